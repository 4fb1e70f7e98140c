/** Where the strings, numbers and lists of numbers of a JSON text stand, and where they belong in its value. */

export type LeafKind = "string" | "number" | "numbers";

type Holder = Record<number | string, unknown>;

/** One string, number or list of numbers of a JSON text. */
export interface Leaf {
  readonly kind: LeafKind;
  readonly start: number;
  readonly end: number;
  readonly holder: Holder;
  readonly key: number | string;
}

const blank = /[\t\n\r ]*/y;
const stringToken = /"(?:[^"\\]|\\.)*"/y;
const plainToken = /[^\t\n\r ,\]}]+/y;

/** Walks a text that `JSON.parse` has accepted, next to its value. */
class LeafWalk {
  readonly leaves: Leaf[] = [];
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** False for a value that does not tell what in it belongs to which part of the text. */
  value(holder: Holder, key: number | string): boolean {
    this.#take(blank);
    const value = holder[key];
    const start = this.#at;
    const add = (kind: LeafKind): void => {
      this.leaves.push({ kind, start, end: this.#at, holder, key });
    };
    if (Array.isArray(value)) {
      const isNumbers = value.every((item) => typeof item === "number");
      const outer = this.leaves.length;
      if (!this.#list(value as unknown as Holder)) return false;
      if (isNumbers) {
        this.leaves.length = outer;
        add("numbers");
      }
    } else if (typeof value === "object" && value !== null) return this.#object(value as Holder);
    else if (typeof value === "string") {
      this.#take(stringToken);
      add("string");
    } else {
      this.#take(plainToken);
      if (typeof value === "number") add("number");
    }
    return true;
  }

  #list(items: Holder): boolean {
    this.#at++;
    for (let i = 0; !this.#isEnd("]"); i++) if (!this.value(items, i)) return false;
    return true;
  }

  #object(fields: Holder): boolean {
    this.#at++;
    let count = 0;
    for (; !this.#isEnd("}"); count++) {
      this.#take(blank);
      const key = JSON.parse(this.#take(stringToken)) as string;
      this.#take(blank);
      this.#at++;
      if (key === "__proto__" || !this.value(fields, key)) return false;
    }
    // A name that comes twice has one value.
    return count === Object.keys(fields).length;
  }

  /** Steps over the comma, or over the end. */
  #isEnd(end: string): boolean {
    this.#take(blank);
    const char = this.#text[this.#at];
    if (char === "," || char === end) this.#at++;
    return char === end;
  }

  #take(token: RegExp): string {
    token.lastIndex = this.#at;
    const [found = ""] = token.exec(this.#text) ?? [];
    this.#at += found.length;
    return found;
  }
}

/** Null where names come twice. `root` has the value of `text` as its `value`. */
export function leavesOf(text: string, root: { readonly value: unknown }): readonly Leaf[] | null {
  const walk = new LeafWalk(text);
  return walk.value(root, "value") ? walk.leaves : null;
}
