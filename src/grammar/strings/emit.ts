/** Languages of code points as states of a machine: as JSON strings, or as they are. */
import type { Machine } from "../machine.ts";
import { lastCodePoint, type Language } from "./language.ts";

const escapes: Readonly<Record<number, string>> = {
  8: "\\b",
  9: "\\t",
  10: "\\n",
  12: "\\f",
  13: "\\r",
  34: '\\"',
  92: "\\\\",
};

const blockSizes = [0x7f, 0x7ff, 0xffff, lastCodePoint] as const;

/** The UTF-8 of all code points of a range, without surrogates, as sequences of byte ranges. */
function utf8Edges(machine: Machine, from: number, low: number, high: number, to: number): void {
  if (low > high) return;
  if (low <= 0xdfff && high >= 0xd800) {
    utf8Edges(machine, from, low, Math.min(high, 0xd7ff), to);
    utf8Edges(machine, from, Math.max(low, 0xe000), high, to);
    return;
  }
  for (const last of blockSizes) {
    if (low > last || high <= last) continue;
    utf8Edges(machine, from, low, last, to);
    utf8Edges(machine, from, last + 1, high, to);
    return;
  }
  if (high <= 0x7f) {
    machine.edge(from, low, high, to);
    return;
  }
  // Cut where not all of the trailing bytes are free.
  for (let bits = 6; bits <= 18; bits += 6) {
    const mask = 2 ** bits - 1;
    if (Math.floor(low / (mask + 1)) === Math.floor(high / (mask + 1))) continue;
    if ((low & mask) !== 0) {
      utf8Edges(machine, from, low, low | mask, to);
      utf8Edges(machine, from, (low | mask) + 1, high, to);
      return;
    }
    if ((high & mask) !== mask) {
      utf8Edges(machine, from, low, (high & ~mask) - 1, to);
      utf8Edges(machine, from, high & ~mask, high, to);
      return;
    }
  }
  const first = Buffer.from(String.fromCodePoint(low));
  const final = Buffer.from(String.fromCodePoint(high));
  let at = from;
  for (let i = 0; i < first.length; i++) {
    const isEnd = i === first.length - 1;
    at = isEnd
      ? machine.edge(at, first[i]!, final[i]!, to)
      : machine.edge(at, first[i]!, final[i]!);
  }
}

/** Each as JSON's shortest spelling. */
function jsonEdges(machine: Machine, from: number, low: number, high: number, to: number): void {
  let next = low;
  const special = [...Array.from({ length: 32 }, (_, code) => code), 34, 92];
  for (const code of special.filter((point) => point >= low && point <= high)) {
    utf8Edges(machine, from, next, code - 1, to);
    const hex = code.toString(16).padStart(4, "0");
    machine.jump(machine.text(from, escapes[code] ?? `\\u${hex}`), to);
    next = code + 1;
  }
  utf8Edges(machine, from, next, high, to);
}

/** Any code point, however JSON may spell it; halves of surrogate pairs excepted. */
export function anyCharacter(machine: Machine): number {
  return machine.rule((from) => {
    const to = machine.state();
    utf8Edges(machine, from, 0x20, 0x21, to);
    utf8Edges(machine, from, 0x23, 0x5b, to);
    utf8Edges(machine, from, 0x5d, lastCodePoint, to);
    const escaped = machine.text(from, "\\");
    for (const letter of '"\\/bfnrt') machine.jump(machine.text(escaped, letter), to);
    const hex = (at: number, letters: string, end?: number): number => {
      const next = end ?? machine.state();
      for (const letter of letters) {
        const code = letter.codePointAt(0)!;
        machine.edge(at, code, code, next);
      }
      return next;
    };
    const all = "0123456789abcdefABCDEF";
    const coded = machine.text(escaped, "u");
    const second = hex(coded, "0123456789abcefABCEF");
    const third = hex(second, all);
    hex(hex(coded, "dD"), "01234567", third);
    hex(hex(third, all), all, to);
    return to;
  });
}

interface EmitOptions {
  /** Between quotes, with what JSON escapes. @default false */
  readonly json?: boolean;
  /** Rule of `anyCharacter`, used where everything is allowed. */
  readonly any?: number;
}

/** Adds states for a language; returns the one where its texts end. */
export function emit(
  machine: Machine,
  from: number,
  language: Language,
  { json = false, any }: EmitOptions = {},
): number {
  const known = new Map<number, number>();
  const queue: number[] = [];
  const end = machine.state();
  const stateOf = (name: number): number => {
    const found = known.get(name);
    if (found !== undefined) return found;
    const state = machine.state();
    known.set(name, state);
    queue.push(name);
    return state;
  };
  machine.jump(json ? machine.text(from, '"') : from, stateOf(language.start));
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    const state = stateOf(name);
    if (language.accepts(name)) machine.jump(state, end);
    for (const { low, high, to } of language.transitions(name)) {
      const next = stateOf(to);
      if (!json) utf8Edges(machine, state, low, high, next);
      else if (any !== undefined && low === 0 && high === lastCodePoint)
        machine.call(state, any, next);
      else jsonEdges(machine, state, low, high, next);
    }
  }
  return json ? machine.text(end, '"') : end;
}
