/** The text of a regular expression (ECMA-262, as JSON Schema has it) to a tree. */
import type { WorkBudget } from "../work-budget.ts";
import { lastCodePoint, type Range } from "./language.ts";

export type RegexNode =
  | { readonly type: "set"; readonly ranges: readonly Range[] }
  | { readonly type: "anchor"; readonly at: "start" | "end" }
  | { readonly type: "sequence"; readonly parts: readonly RegexNode[] }
  | { readonly type: "choice"; readonly options: readonly RegexNode[] }
  | {
      readonly type: "repeat";
      readonly part: RegexNode;
      readonly min: number;
      readonly max: number;
    };

const range = (low: string, high: string = low): Range => ({
  low: low.codePointAt(0)!,
  high: high.codePointAt(0)!,
});

const digits = [range("0", "9")];
const wordLetters = [range("0", "9"), range("A", "Z"), range("_"), range("a", "z")];
const spaces = [
  range("\t", "\r"),
  range(" "),
  range("\u00a0"),
  range("\u1680"),
  range("\u2000", "\u200a"),
  range("\u2028", "\u2029"),
  range("\u202f"),
  range("\u205f"),
  range("\u3000"),
  range("\ufeff"),
];
const lineEnds = [range("\n"), range("\r"), range("\u2028", "\u2029")];

function complement(ranges: readonly Range[]): readonly Range[] {
  const rest: Range[] = [];
  let next = 0;
  for (const { low, high } of ranges.toSorted((a, b) => a.low - b.low)) {
    if (low > next) rest.push({ low: next, high: low - 1 });
    next = Math.max(next, high + 1);
  }
  if (next <= lastCodePoint) rest.push({ low: next, high: lastCodePoint });
  return rest;
}

const controls: Readonly<Record<string, string>> = {
  n: "\n",
  r: "\r",
  t: "\t",
  f: "\f",
  v: "\v",
  0: "\0",
};
const classes: Readonly<Record<string, readonly Range[]>> = {
  d: digits,
  D: complement(digits),
  w: wordLetters,
  W: complement(wordLetters),
  s: spaces,
  S: complement(spaces),
};

/** Repetitions above which a pattern is taken for a mistake. */
const maxRepeats = 2000;

/** Groups within groups. */
const maxDepth = 100;

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff;

class Parser {
  readonly #text: readonly string[];
  readonly #budget: WorkBudget;
  #at = 0;
  #depth = 0;

  constructor(text: string, budget: WorkBudget) {
    budget.spend(text.length);
    this.#text = [...text];
    this.#budget = budget;
  }

  parse(): RegexNode {
    const tree = this.#choice();
    if (this.#at < this.#text.length) throw new SyntaxError(`unexpected ")" in the pattern`);
    return tree;
  }

  #peek(text: string): boolean {
    return [...text].every((letter, i) => this.#text[this.#at + i] === letter);
  }

  #take(text: string): boolean {
    if (!this.#peek(text)) return false;
    this.#at += [...text].length;
    return true;
  }

  #letter(): string {
    const letter = this.#text[this.#at++];
    if (letter === undefined) throw new SyntaxError("the pattern ends too early");
    return letter;
  }

  #choice(): RegexNode {
    const options = [this.#sequence()];
    while (this.#take("|")) options.push(this.#sequence());
    return options.length === 1 ? options[0]! : { type: "choice", options };
  }

  #sequence(): RegexNode {
    const parts: RegexNode[] = [];
    while (this.#at < this.#text.length && !this.#peek("|") && !this.#peek(")"))
      parts.push(this.#repeated());
    return { type: "sequence", parts };
  }

  #repeated(): RegexNode {
    let part = this.#atom();
    for (;;) {
      const bounds = this.#bounds();
      if (bounds === null) return part;
      // Lazy or greedy: the same texts.
      this.#take("?");
      part = { type: "repeat", part, ...bounds };
    }
  }

  #bounds(): { min: number; max: number } | null {
    if (this.#take("*")) return { min: 0, max: Infinity };
    if (this.#take("+")) return { min: 1, max: Infinity };
    if (this.#take("?")) return { min: 0, max: 1 };
    const counted = /^\{(\d+)(,(\d*))?\}/.exec(this.#text.slice(this.#at, this.#at + 24).join(""));
    if (counted === null) return null;
    this.#at += counted[0].length;
    const min = Number(counted[1]);
    const max = counted[2] === undefined ? min : counted[3] === "" ? Infinity : Number(counted[3]);
    if (min > maxRepeats || (max !== Infinity && max > maxRepeats))
      throw new RangeError(`the pattern repeats more than ${maxRepeats} times`);
    return { min, max };
  }

  #atom(): RegexNode {
    const letter = this.#letter();
    if (letter === "^") return { type: "anchor", at: "start" };
    if (letter === "$") return { type: "anchor", at: "end" };
    if (letter === ".") return { type: "set", ranges: complement(lineEnds) };
    if (letter === "[") return { type: "set", ranges: this.#class() };
    if (letter === "(") return this.#group();
    if (letter === "\\") return { type: "set", ranges: this.#escape(false) };
    if ("*+?".includes(letter)) throw new SyntaxError(`nothing to repeat before "${letter}"`);
    return { type: "set", ranges: [range(letter)] };
  }

  #group(): RegexNode {
    if (this.#take("?")) {
      const isNamed = this.#peek("<") && !this.#peek("<=") && !this.#peek("<!");
      if (isNamed) while (this.#letter() !== ">");
      else if (!this.#take(":")) throw new RangeError("look-around in patterns is not supported");
    }
    if (++this.#depth > maxDepth)
      throw new RangeError(`the pattern has more than ${maxDepth} groups within one another`);
    const tree = this.#choice();
    this.#depth--;
    if (!this.#take(")")) throw new SyntaxError(`a "(" of the pattern is not closed`);
    return tree;
  }

  #escape(isInClass: boolean): readonly Range[] {
    const letter = this.#letter();
    if (Object.hasOwn(classes, letter)) return classes[letter]!;
    if (isInClass && letter === "b") return [range("\b")];
    if (/[bBk1-9]/.test(letter)) throw new RangeError(`\\${letter} in patterns is not supported`);
    if (letter === "p" || letter === "P")
      throw new RangeError(`\\${letter}{...} in patterns is not supported`);
    if (letter === "x" || letter === "u") return [this.#coded(letter)];
    if (letter === "c" && /^[A-Za-z]/.test(this.#text[this.#at] ?? ""))
      return [range(String.fromCodePoint(this.#letter().codePointAt(0)! % 32))];
    return [range(controls[letter] ?? letter)];
  }

  #coded(letter: "x" | "u"): Range {
    const rest = this.#text.slice(this.#at, this.#at + 10).join("");
    const code = (letter === "x" ? /^[\da-f]{2}/i : /^(?:[\da-f]{4}|\{[\da-f]+\})/i).exec(
      rest,
    )?.[0];
    if (code === undefined) return range(letter);
    this.#at += code.length;
    const point = Number.parseInt(code.replace(/[{}]/g, ""), 16);
    if (point > lastCodePoint)
      throw new SyntaxError(`\\${letter}${code} is beyond the last character, \\u{10FFFF}`);
    const low = letter === "u" && isHighSurrogate(point) ? this.#lowSurrogate() : null;
    if (low === null) return { low: point, high: point };
    const both = String.fromCharCode(point, low).codePointAt(0)!;
    return { low: both, high: both };
  }

  /** The second half of a character that is written as two escapes. */
  #lowSurrogate(): number | null {
    const rest = this.#text.slice(this.#at, this.#at + 6).join("");
    const half = /^\\u(d[c-f][\da-f]{2})/i.exec(rest)?.[1];
    if (half === undefined) return null;
    this.#at += 6;
    return Number.parseInt(half, 16);
  }

  #class(): readonly Range[] {
    this.#budget.spend(16);
    const isNegated = this.#take("^");
    const ranges: Range[] = [];
    while (!this.#take("]")) {
      const low = this.#classPart();
      if (
        low.length === 1 &&
        low[0]!.low === low[0]!.high &&
        this.#peek("-") &&
        !this.#peek("-]")
      ) {
        this.#take("-");
        const [high] = this.#classPart();
        if (high === undefined || high.high < low[0]!.low)
          throw new SyntaxError("a range of the pattern is out of order");
        ranges.push({ low: low[0]!.low, high: high.high });
      } else ranges.push(...low);
    }
    return isNegated ? complement(ranges) : ranges;
  }

  #classPart(): readonly Range[] {
    const letter = this.#letter();
    return letter === "\\" ? this.#escape(true) : [range(letter)];
  }
}

/** @throws SyntaxError for what is no pattern; RangeError for what no finite automaton has. */
export function parseRegex(text: string, budget: WorkBudget): RegexNode {
  return new Parser(text, budget).parse();
}
