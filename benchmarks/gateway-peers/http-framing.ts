/**
 * Where one HTTP/1.1 message on a socket ends, at the least cost: one message at a time per connection,
 * with a content-length or in chunks. Knows no meaning of it.
 */

const headEnd = Buffer.from("\r\n\r\n");
const lastChunk = "0\r\n\r\n";

export class MessageFraming {
  /** First line and headers, lower case. */
  head = "";
  readonly #keepBody: boolean;
  #pieces: Buffer[] = [];
  #isInBody = false;
  #isChunked = false;
  /** Bytes of the body that are still to come. */
  #left = 0;
  #tail = "";

  /** `keepBody` false: bodies are only counted. */
  constructor(keepBody: boolean) {
    this.#keepBody = keepBody;
  }

  /** True when this completes the message. What follows it in `chunk` is lost. */
  push(chunk: Buffer): boolean {
    if (this.#isInBody) return this.#body(chunk);
    this.#pieces.push(chunk);
    const all = this.#pieces.length === 1 ? chunk : Buffer.concat(this.#pieces);
    const end = all.indexOf(headEnd);
    if (end === -1) return false;
    this.head = all.toString("latin1", 0, end).toLowerCase();
    this.#pieces = [];
    this.#isInBody = true;
    this.#isChunked = this.head.includes("\r\ntransfer-encoding: chunked");
    this.#left = Number(/\r\ncontent-length: *(\d+)/.exec(this.head)?.[1] ?? 0);
    this.#tail = "";
    return this.#body(all.subarray(end + headEnd.length));
  }

  /** The body of the message that was completed, where it was kept; makes ready for the next one. */
  take(): Buffer {
    this.#isInBody = false;
    const pieces = this.#pieces;
    this.#pieces = [];
    return pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces);
  }

  #body(chunk: Buffer): boolean {
    if (this.#keepBody) this.#pieces.push(chunk);
    if (!this.#isChunked) {
      this.#left -= chunk.length;
      return this.#left <= 0;
    }
    const from = Math.max(0, chunk.length - lastChunk.length);
    this.#tail = (this.#tail + chunk.toString("latin1", from)).slice(-lastChunk.length);
    return this.#tail === lastChunk;
  }
}
