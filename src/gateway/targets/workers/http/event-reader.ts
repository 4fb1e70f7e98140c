/**
 * JSON of server-sent events, from bytes in chunks. Tolerates every line ending, comments and fields it does
 * not know; an event that repeats the id of the one before is dropped.
 */
import { isAscii } from "node:buffer";
import { parseWithIds } from "./json-with-ids.ts";

/** Called with each event's value. */
export type OnEvent = (value: unknown) => void;

const newline = 10;
const prefix = "data: ";
/** A first line longer than this holds the prompt's ids. */
const longLine = 4_096;
const mark = Buffer.from([0xef, 0xbb, 0xbf]);
const done = "[DONE]";

function decode(bytes: Buffer): string {
  return isAscii(bytes) ? bytes.toString("latin1") : bytes.toString("utf8");
}

export class EventReader {
  readonly #onEvent: OnEvent;
  /** Bytes of a line that is not complete. */
  #pieces: Buffer[] = [];
  #isFirst = true;
  #isDone = false;
  #data: string[] = [];
  #id: string | undefined;
  #lastId: string | undefined;

  constructor(onEvent: OnEvent) {
    this.#onEvent = onEvent;
  }

  /** After the event that says so, nothing more is read. */
  get isDone(): boolean {
    return this.#isDone;
  }

  /** @throws SyntaxError for an event that is not JSON. */
  push(chunk: Buffer): void {
    const end = chunk.lastIndexOf(newline) + 1;
    if (end === 0) {
      this.#pieces.push(chunk);
      return;
    }
    const lines = chunk.subarray(0, end);
    const whole = this.#pieces.length === 0 ? lines : Buffer.concat([...this.#pieces, lines]);
    this.#pieces = end < chunk.length ? [chunk.subarray(end)] : [];
    const isMarked = this.#isFirst && whole.indexOf(mark) === 0;
    this.#isFirst = false;
    this.#lines(isMarked ? whole.subarray(mark.length) : whole);
  }

  /** The end of the stream: some servers omit the last empty line. @throws SyntaxError */
  end(): void {
    this.push(Buffer.from("\n\n"));
  }

  #lines(bytes: Buffer): void {
    const first = bytes.indexOf(newline);
    const isOneLine = first > longLine && bytes[first + 1] === newline;
    if (isOneLine && this.#longEvent(bytes.subarray(0, first))) {
      this.#text(decode(bytes.subarray(first + 2)));
    } else this.#text(decode(bytes));
  }

  /** False for a line that is not a whole event. */
  #longEvent(line: Buffer): boolean {
    if (!this.#isFresh || line.toString("latin1", 0, prefix.length) !== prefix) return false;
    let value: unknown;
    try {
      value = parseWithIds(line.subarray(prefix.length));
    } catch {
      return false;
    }
    this.#lastId = undefined;
    this.#onEvent(value);
    return true;
  }

  #text(text: string): void {
    let at = 0;
    while (at < text.length && !this.#isDone) {
      const end = text.indexOf("\n", at);
      const isReturned = end > at && text[end - 1] === "\r";
      this.#line(text.slice(at, isReturned ? end - 1 : end));
      at = end + 1;
    }
  }

  get #isFresh(): boolean {
    return this.#data.length === 0 && this.#id === undefined;
  }

  #line(line: string): void {
    if (line === "") this.#complete();
    else if (line.startsWith("data:")) this.#data.push(line.slice(line[5] === " " ? 6 : 5));
    else if (line.startsWith("id:")) this.#id = line.slice(3).trim();
  }

  #complete(): void {
    if (this.#data.length === 0) return;
    const data = this.#data.join("\n");
    const isRepeated = this.#id !== undefined && this.#id === this.#lastId;
    this.#lastId = this.#id;
    this.#id = undefined;
    this.#data = [];
    if (isRepeated) return;
    if (data === done) {
      this.#isDone = true;
      return;
    }
    this.#onEvent(JSON.parse(data));
  }
}
