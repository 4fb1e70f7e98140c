/**
 * Python's str, which knows for each character whether the template or a message wrote it. Only what the template
 * wrote can become control tokens, whatever was cut, joined or replaced on the way to the prompt.
 */
import { charactersPerStep, spend, spendText } from "./limits.ts";

const [own, foreign] = ["t", "m"];

export class Str {
  readonly text: string;
  /** For each UTF-16 unit of `text`: "t" for the template's, "m" for a message's. */
  readonly marks: string;

  private constructor(text: string, marks: string) {
    this.text = text;
    this.marks = marks;
  }

  /** Text of the template. */
  static own(text: string): Str {
    return new Str(text, own.repeat(text.length));
  }

  /** Text of a message, a tool or a name. */
  static foreign(text: string): Str {
    return new Str(text, foreign.repeat(text.length));
  }

  static join(parts: readonly Str[], separator: Str = empty): Str {
    let length = separator.text.length * Math.max(0, parts.length - 1);
    for (const part of parts) length += part.text.length;
    spendText(length);
    return new Str(
      parts.map(({ text }) => text).join(separator.text),
      parts.map(({ marks }) => marks).join(separator.marks),
    );
  }

  get isOwn(): boolean {
    return !this.marks.includes(foreign);
  }

  /** In code points, as all positions in Python. */
  get length(): number {
    spend(this.text.length / charactersPerStep);
    return isNarrow(this.text) ? this.text.length : [...this.text].length;
  }

  /** By UTF-16 units. */
  cut(start: number, end: number = this.text.length): Str {
    return new Str(this.text.slice(start, end), this.marks.slice(start, end));
  }

  /** Its code points. */
  characters(): Str[] {
    spend(this.text.length);
    const found: Str[] = [];
    for (let at = 0; at < this.text.length;) {
      const end = at + (this.text.codePointAt(at)! > 0xffff ? 2 : 1);
      found.push(this.cut(at, end));
      at = end;
    }
    return found;
  }

  plus(other: Str): Str {
    spendText(this.text.length + other.text.length);
    return new Str(this.text + other.text, this.marks + other.marks);
  }

  times(count: number): Str {
    const times = Math.max(0, count);
    spendText(this.text.length * times);
    return new Str(this.text.repeat(times), this.marks.repeat(times));
  }

  /** What was computed from it character by character; where the length differs, all of it counts as a message's. */
  mapped(text: string): Str {
    spendText(text.length);
    return text.length === this.text.length ? new Str(text, this.marks) : this.like(text);
  }

  /** What was computed from it as a whole. */
  like(text: string): Str {
    return this.isOwn ? Str.own(text) : Str.foreign(text);
  }

  /** Its longest runs of one origin. */
  *runs(): Generator<{ readonly text: string; readonly isOwn: boolean }> {
    for (let at = 0; at < this.text.length;) {
      const isOwn = this.marks[at] === own;
      const next = this.marks.indexOf(isOwn ? foreign : own, at);
      const end = next === -1 ? this.text.length : next;
      yield { text: this.text.slice(at, end), isOwn };
      at = end;
    }
  }
}

/** Whether every code point is one UTF-16 unit. */
const isNarrow = (text: string): boolean => !/[\ud800-\udbff][\udc00-\udfff]/.test(text);

/** The UTF-16 unit at which each code point of `text` starts, and its end; null where they are the same. */
export function unitsOf(text: string): readonly number[] | null {
  spend(text.length / charactersPerStep);
  if (isNarrow(text)) return null;
  const units: number[] = [];
  let at = 0;
  for (const character of text) {
    units.push(at);
    at += character.length;
  }
  units.push(at);
  return units;
}

export const empty: Str = Str.own("");
