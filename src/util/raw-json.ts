/**
 * JSON text inside an object that is to be written, for what JavaScript's values would lose: the digits of a
 * number and the order of keys that look like numbers.
 */
import { randomUUID } from "node:crypto";

/** Stands for a text while the object around it is written; clients cannot know it. */
const mark = randomUUID();
const marked = new RegExp(`"${mark}:(\\d+)"`, "g");
/** The texts of the object that is being written; null outside of `writeJson`. */
let texts: string[] | null = null;

/** A value by its text, which must be JSON. `JSON.stringify` writes what JavaScript keeps of it. */
export class RawJson {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toJSON(): unknown {
    return texts === null ? JSON.parse(this.text) : `${mark}:${texts.push(this.text) - 1}`;
  }
}

/** `JSON.stringify`, with each `RawJson` as its text. */
export function writeJson(value: object): string {
  const found: string[] = [];
  texts = found;
  try {
    const text = JSON.stringify(value);
    return found.length === 0 ? text : text.replace(marked, (_, i) => found[Number(i)]!);
  } finally {
    texts = null;
  }
}
