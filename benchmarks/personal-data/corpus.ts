/** Texts with and without personal data, the same for a seed, and how rules did on them. */
import { PersonalData, type PersonalKind } from "../../src/production/curate/personal-data.ts";
import { deriveSeed } from "../../src/util/random.ts";
import { Draw } from "./draw.ts";
import { otherValues } from "./other-values.ts";
import { besideCards, places } from "./places.ts";
import { valuesOf } from "./values.ts";

export interface Case {
  readonly kind: PersonalKind | null;
  /** Of a value that is nobody's. */
  readonly other: string | null;
  readonly text: string;
  readonly wanted: string;
}

export const personalKinds: readonly PersonalKind[] = ["email", "card", "iban", "ip", "phone"];

const dense = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]/u;

/** @param count of each kind; of values that are nobody's, as many as of all kinds together */
export function* casesOf(seed: number, count: number): Generator<Case> {
  for (const kind of personalKinds) {
    const draw = new Draw(deriveSeed(seed, kind));
    for (let i = 0; i < count; i++) {
      const value = valuesOf[kind](draw);
      const place = kind === "card" && draw.chance(0.2) ? draw.of(besideCards) : draw.of(places);
      const put = (text: string): string => {
        // Where words have no spaces between them, nobody could tell where a name in the same signs begins.
        const isJoined = dense.test(value) && /[^\s\p{ASCII}]\{\}/u.test(place);
        return place.replace("{}", () => (isJoined ? ` ${text}` : text));
      };
      yield { kind, other: null, text: put(value), wanted: put(`[${kind} 1]`) };
    }
  }
  const others = Object.entries(otherValues);
  const each = Math.ceil((count * personalKinds.length) / others.length);
  for (const [other, make] of others) {
    const draw = new Draw(deriveSeed(seed, other));
    for (let i = 0; i < each; i++) {
      const text = draw.of(places).replace("{}", () => make(draw));
      yield { kind: null, other, text, wanted: text };
    }
  }
}

export interface Score {
  readonly positives: number;
  readonly found: number;
  readonly falsePositives: number;
}

export interface Measured {
  readonly scores: Readonly<Record<PersonalKind, Score>>;
  /** Texts without personal data, and how many were changed, by what is in them. */
  readonly others: Readonly<Record<string, { readonly texts: number; readonly changed: number }>>;
  readonly wrong: readonly (Case & { readonly got: string })[];
}

export function measure(seed: number, count: number): Measured {
  const scores = Object.fromEntries(
    personalKinds.map((kind) => [kind, { positives: 0, found: 0, falsePositives: 0 }]),
  ) as Record<PersonalKind, { positives: number; found: number; falsePositives: number }>;
  const others: Record<string, { texts: number; changed: number }> = {};
  const wrong: (Case & { got: string })[] = [];
  for (const one of casesOf(seed, count)) {
    const got = new PersonalData().replace(one.text);
    const isRight = got === one.wanted;
    if (one.kind !== null) {
      scores[one.kind].positives++;
      if (isRight) scores[one.kind].found++;
    } else {
      const other = (others[one.other!] ??= { texts: 0, changed: 0 });
      other.texts++;
      if (!isRight) other.changed++;
    }
    if (isRight) continue;
    wrong.push({ ...one, got });
    // Everything that was named, but should not be or not so.
    for (const [, kind] of got.matchAll(/\[(email|card|iban|ip|phone) \d+\]/gu))
      if (kind !== one.kind) scores[kind as PersonalKind].falsePositives++;
  }
  return { scores, others, wrong };
}

export const recallOf = ({ positives, found }: Score): number => found / positives;
export const precisionOf = ({ found, falsePositives }: Score): number =>
  found / (found + falsePositives);
