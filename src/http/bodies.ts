/** Bodies of requests: the size of one, and the bytes of all that are in memory at the same time. */
import { listenToAbort } from "../util/abort.ts";

interface Waiting {
  readonly bytes: number;
  readonly start: () => void;
}

/** Bytes that are held, up to a limit. Who finds no room can wait, in the order of coming. */
export class ByteBudget {
  readonly #limit: number;
  #held = 0;
  #waiting: Waiting[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  get held(): number {
    return this.#held;
  }

  /** False where there is no room. A single holder always has some. */
  take(bytes: number): boolean {
    if (!this.#hasRoom(bytes)) return false;
    this.#held += bytes;
    return true;
  }

  /** Waits for room; false when there is none in time. */
  async takeLater(bytes: number, limitMs: number, signal: AbortSignal): Promise<boolean> {
    if (this.#waiting.length === 0 && this.take(bytes)) return true;
    return await new Promise((resolve) => {
      const settle = (hasRoom: boolean): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", giveUp);
        resolve(hasRoom);
      };
      const waiting = { bytes, start: () => settle(true) };
      const giveUp = (): void => {
        this.#waiting = this.#waiting.filter((other) => other !== waiting);
        settle(false);
        this.#startWaiting();
      };
      const timer = setTimeout(giveUp, limitMs);
      listenToAbort(signal, giveUp);
      this.#waiting.push(waiting);
    });
  }

  give(bytes: number): void {
    this.#held -= bytes;
    this.#startWaiting();
  }

  #hasRoom(bytes: number): boolean {
    return this.#held === 0 || this.#held + bytes <= this.#limit;
  }

  #startWaiting(): void {
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      if (!this.take(first.bytes)) return;
      this.#waiting.shift();
      first.start();
    }
  }
}

export interface BodyLimit {
  readonly maxBytes: number;
  /** What is larger is read on so far: a client that is still sending would not read a refusal. @default maxBytes */
  readonly drainBytes?: number;
  /** Called before a piece is kept; what it throws ends the reading. */
  readonly count: (bytes: number) => void;
}

/** A body, or of one that is too large its beginning and its end. */
export interface WholeBody {
  readonly bytes: Buffer<ArrayBuffer>;
  readonly isTooLarge: boolean;
}

/** Of each end of a body that is too large. */
const keptBytes = 64 * 1024;

export async function readBytes(
  body: ReadableStream<Uint8Array>,
  { maxBytes, drainBytes = maxBytes, count }: BodyLimit,
): Promise<WholeBody> {
  let parts: Uint8Array[] = [];
  let end: Uint8Array | null = null;
  let size = 0;
  for await (const part of body as unknown as AsyncIterable<Uint8Array>) {
    size += part.byteLength;
    if (size <= maxBytes) {
      count(part.byteLength);
      parts.push(part);
      continue;
    }
    if (end === null) {
      parts.push(part);
      parts = [Buffer.concat(parts).subarray(0, keptBytes)];
    }
    end = Buffer.concat(end === null ? [part] : [end, part]).subarray(-keptBytes);
    if (size > drainBytes) break;
  }
  const isTooLarge = end !== null;
  return { bytes: Buffer.concat(isTooLarge ? [...parts, end as Uint8Array] : parts), isTooLarge };
}
