/**
 * Reads one JSON value at a place of a text: a string, a number, a list of numbers. Accepts a part of what
 * `JSON.parse` accepts and gives the same values; whoever calls it leaves the rest to `JSON.parse`.
 */

const [quote, backslash, comma, open, close, space] = [...'"\\,[] '].map((char) =>
  char.charCodeAt(0),
) as [number, number, number, number, number, number];
const [minus, dot, zero, nine, upperE, lowerE, plus] = [..."-.09Ee+"].map((char) =>
  char.charCodeAt(0),
) as [number, number, number, number, number, number, number];
/** Below, control characters must be escaped. */
const firstPlain = 0x20;
/** As many digits are exact. */
const maxDigits = 15;
const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[Ee][+-]?\d+)?$/;

function isDigit(code: number): boolean {
  return code >= zero && code <= nine;
}

/** Reads at `end`, and moves it behind what it read. */
export class JsonScanner {
  readonly #text: string;
  /** Where the last value that was read ended. */
  end = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Undefined where there is no string. */
  string(at: number): string | undefined {
    const text = this.#text;
    if (text.charCodeAt(at) !== quote) return undefined;
    for (let i = at + 1; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code === quote) {
        this.end = i + 1;
        return text.slice(at + 1, i);
      }
      if (code === backslash) return this.#escaped(at, i);
      if (code < firstPlain) return undefined;
    }
    return undefined;
  }

  /** Undefined where there is no number. */
  number(at: number): number | undefined {
    const text = this.#text;
    const isNegative = text.charCodeAt(at) === minus;
    const first = isNegative ? at + 1 : at;
    let i = first;
    let value = 0;
    let code = text.charCodeAt(i);
    while (isDigit(code)) {
      value = value * 10 + code - zero;
      code = text.charCodeAt(++i);
    }
    const digits = i - first;
    const isInteger = code !== dot && code !== upperE && code !== lowerE;
    if (!isInteger || digits > maxDigits) return this.#exact(at, i);
    if (digits === 0 || (digits > 1 && text.charCodeAt(first) === zero)) return undefined;
    this.end = i;
    return isNegative ? -value : value;
  }

  /** Undefined where there is no list of numbers, or one with more white space than a space after a comma. */
  numbers(at: number): number[] | undefined {
    const text = this.#text;
    if (text.charCodeAt(at) !== open) return undefined;
    const values: number[] = [];
    let i = at + 1;
    if (text.charCodeAt(i) === close) {
      this.end = i + 1;
      return values;
    }
    for (;;) {
      const value = this.number(i);
      if (value === undefined) return undefined;
      values.push(value);
      const code = text.charCodeAt(this.end);
      if (code === close) {
        this.end++;
        return values;
      }
      if (code !== comma) return undefined;
      i = this.end + 1;
      if (text.charCodeAt(i) === space) i++;
    }
  }

  #escaped(at: number, from: number): string | undefined {
    const text = this.#text;
    let i = from;
    for (;;) {
      const code = text.charCodeAt(i);
      if (code === quote) break;
      if (Number.isNaN(code)) return undefined;
      i += code === backslash ? 2 : 1;
    }
    try {
      const value = JSON.parse(text.slice(at, i + 1)) as string;
      this.end = i + 1;
      return value;
    } catch {
      return undefined;
    }
  }

  #exact(at: number, from: number): number | undefined {
    const text = this.#text;
    let i = from;
    for (;;) {
      const code = text.charCodeAt(i);
      const isPart =
        isDigit(code) ||
        code === dot ||
        code === upperE ||
        code === lowerE ||
        code === plus ||
        code === minus;
      if (!isPart) break;
      i++;
    }
    const written = text.slice(at, i);
    if (!number.test(written)) return undefined;
    this.end = i;
    return Number(written);
  }
}
