/** Aligns two responses, token by token where both have tokens, else word by word. Pure, and bounded. */
import { diffArrays } from "diff";
import type { GroupMember } from "../api/conversation.ts";

type Call = GroupMember["calls"][number];

/** A stretch that both have, or only one of them. */
export interface AlignedPart {
  readonly side: "both" | "left" | "right";
  readonly text: string;
}

export interface Alignment {
  readonly parts: readonly AlignedPart[];
  /** What was compared. */
  readonly unit: "tokens" | "words";
  /** First unit that is another one, from 0; null where both are equal. */
  readonly first: number | null;
  /** Whether they are too different to be aligned between the first and the last difference. */
  readonly isCoarse: boolean;
}

/** Insertions and deletions beyond which aligning would take seconds. */
const maxEdits = 4000;
const maxMs = 400;

const words = (text: string): string[] => text.match(/\s+|[^\s]+/gu) ?? [];

function unitsOf(a: Call, b: Call): readonly [string[], string[], Alignment["unit"]] {
  if (a.texts !== null && b.texts !== null && a.ids.length > 0 && b.ids.length > 0)
    return [[...a.texts], [...b.texts], "tokens"];
  return [words(a.text), words(b.text), "words"];
}

/** What lies between a common beginning and a common end, as one difference. */
function coarse(left: readonly string[], right: readonly string[]): AlignedPart[] {
  let [begin, end] = [0, 0];
  const shorter = Math.min(left.length, right.length);
  while (begin < shorter && left[begin] === right[begin]) begin++;
  while (end < shorter - begin && left.at(-1 - end) === right.at(-1 - end)) end++;
  const part = (side: AlignedPart["side"], units: readonly string[]): AlignedPart[] =>
    units.length === 0 ? [] : [{ side, text: units.join("") }];
  return [
    ...part("both", left.slice(0, begin)),
    ...part("left", left.slice(begin, left.length - end)),
    ...part("right", right.slice(begin, right.length - end)),
    ...part("both", left.slice(left.length - end)),
  ];
}

export function align(a: Call, b: Call): Alignment {
  const [left, right, unit] = unitsOf(a, b);
  const longest = Math.max(left.length, right.length);
  const differs = Array.from({ length: longest }, (_, i) => i).find((i) => left[i] !== right[i]);
  const first = differs ?? null;
  if (first === null) return { parts: coarse(left, right), unit, first, isCoarse: false };
  const changes = diffArrays(left, right, { maxEditLength: maxEdits, timeout: maxMs });
  if (changes === undefined) return { parts: coarse(left, right), unit, first, isCoarse: true };
  const parts = changes.map(({ value, added, removed }): AlignedPart => ({
    side: added ? "right" : removed ? "left" : "both",
    text: value.join(""),
  }));
  return { parts, unit, first, isCoarse: false };
}
