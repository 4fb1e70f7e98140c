/**
 * Sorts records of a fixed size by their bytes in bounded memory: chunks are sorted and written to files without a
 * name, and merged. What fits into one chunk needs no file.
 */
import { closeSync, openSync, readSync, unlinkSync, writeSync } from "node:fs";
import { join } from "node:path";
import { randomUUID } from "node:crypto";

/** Its index takes 20 of the 53 bits of a number, next to the first 32 of the record. */
const mostRecords = 2 ** 20;
const readBytes = 2 ** 16;

interface Run {
  readonly handle: number;
  /** Where the system keeps the name of an open file. */
  readonly path: string | null;
  readonly bytes: number;
}

/** Sorts what is there in place. */
function sortRecords(records: Buffer, size: number): Buffer {
  const count = records.length / size;
  const at = (i: number): Buffer => records.subarray(i * size, (i + 1) * size);
  const keys = new Float64Array(count);
  for (let i = 0; i < count; i++) keys[i] = records.readUInt32BE(i * size) * mostRecords + i;
  keys.sort();
  const order = Uint32Array.from(keys, (key) => key % mostRecords);
  const first = (i: number): number => Math.floor(keys[i]! / mostRecords);
  for (let begin = 0; begin < count;) {
    let end = begin + 1;
    while (end < count && first(end) === first(begin)) end++;
    if (end - begin > 1) order.subarray(begin, end).sort((a, b) => Buffer.compare(at(a), at(b)));
    begin = end;
  }
  const sorted = Buffer.allocUnsafe(records.length);
  for (const [to, from] of order.entries()) at(from).copy(sorted, to * size);
  return sorted;
}

/** Reads the records of a run in order. */
class RunReader {
  readonly #run: Run;
  readonly #size: number;
  readonly #buffer: Buffer;
  #filled = 0;
  #used = 0;
  #at = 0;
  head: Buffer | null;

  constructor(run: Run, size: number) {
    this.#run = run;
    this.#size = size;
    this.#buffer = Buffer.allocUnsafe(Math.max(1, Math.floor(readBytes / size)) * size);
    this.head = this.#next();
  }

  #next(): Buffer | null {
    if (this.#used === this.#filled) {
      if (this.#at === this.#run.bytes) return null;
      const wanted = Math.min(this.#buffer.length, this.#run.bytes - this.#at);
      for (this.#filled = 0; this.#filled < wanted;) {
        const [from, at] = [this.#filled, this.#at + this.#filled];
        const read = readSync(this.#run.handle, this.#buffer, from, wanted - from, at);
        if (read === 0) throw new Error(`A file of sorted records ends at byte ${at}.`);
        this.#filled += read;
      }
      this.#at += wanted;
      this.#used = 0;
    }
    this.#used += this.#size;
    return this.#buffer.subarray(this.#used - this.#size, this.#used);
  }

  step(): void {
    this.head = this.#next();
  }
}

export class ExternalSort implements Disposable {
  readonly #size: number;
  readonly #folder: string;
  readonly #chunk: Buffer;
  readonly #runs: Run[] = [];
  #used = 0;
  #whole: Buffer | null = null;

  /**
   * @param recordBytes at least 4
   * @param folder for its files
   */
  constructor(recordBytes: number, folder: string, chunkRecords: number = 2 ** 17) {
    this.#size = recordBytes;
    this.#folder = folder;
    this.#chunk = Buffer.allocUnsafe(Math.min(chunkRecords, mostRecords) * recordBytes);
  }

  /** Copies it. Not after `sorted`. */
  add(record: Buffer): void {
    if (this.#used === this.#chunk.length) this.#spill();
    record.copy(this.#chunk, this.#used, 0, this.#size);
    this.#used += this.#size;
  }

  /** All records in order, as often as it is called; each is valid until the next. */
  *sorted(): Generator<Buffer> {
    if (this.#runs.length > 0 && this.#used > 0) this.#spill();
    if (this.#runs.length === 0) {
      this.#whole ??= sortRecords(this.#chunk.subarray(0, this.#used), this.#size);
      for (let at = 0; at < this.#whole.length; at += this.#size)
        yield this.#whole.subarray(at, at + this.#size);
      return;
    }
    const readers = this.#runs.map((run) => new RunReader(run, this.#size));
    for (;;) {
      let least: RunReader | null = null;
      for (const reader of readers) {
        if (reader.head === null) continue;
        if (least === null || Buffer.compare(reader.head, least.head!) < 0) least = reader;
      }
      if (least === null) return;
      yield least.head!;
      least.step();
    }
  }

  #spill(): void {
    const sorted = sortRecords(this.#chunk.subarray(0, this.#used), this.#size);
    this.#used = 0;
    const path = join(this.#folder, `.sort-${randomUUID()}`);
    const handle = openSync(path, "wx+", 0o600);
    let kept: string | null = path;
    try {
      // Without a name it is gone with the process, however that ends.
      unlinkSync(path);
      kept = null;
    } catch {
      // Windows removes it at the end.
    }
    this.#runs.push({ handle, path: kept, bytes: sorted.length });
    for (let at = 0; at < sorted.length;) at += writeSync(handle, sorted, at);
  }

  [Symbol.dispose](): void {
    for (const { handle, path } of this.#runs.splice(0)) {
      closeSync(handle);
      if (path !== null) unlinkSync(path);
    }
  }
}
