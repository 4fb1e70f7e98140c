/**
 * A file of lines that only grows: what is appended is on the disk when the promise resolves. Appends that
 * arrive during a sync share the next one. Several processes may append to one journal.
 */
import { mkdir, open, type FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import { syncFolder } from "../../util/files/atomic-write.ts";

interface Append {
  readonly bytes: Buffer;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

const newline = Buffer.from("\n");

/** Whether the file ends within a line, as a kill leaves it. */
async function endsInLine(file: FileHandle, size: number): Promise<boolean> {
  if (size === 0) return false;
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer[0] !== newline[0];
}

export class Journal {
  readonly path: string;
  #file: FileHandle | null = null;
  /** What is at the end was cut short, and must not become the beginning of the next line. */
  #isTorn = false;
  #queue: Append[] = [];
  #running: Promise<void> | null = null;

  constructor(path: string) {
    this.path = path;
  }

  /** @param bytes whole lines. Resolves when they are on the disk. */
  appendLines(bytes: Buffer): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ bytes, resolve, reject });
      this.#running ??= this.#drain();
    });
  }

  async close(): Promise<void> {
    while (this.#running !== null) await this.#running;
    await this.#file?.close();
    this.#file = null;
  }

  async #drain(): Promise<void> {
    while (this.#queue.length > 0) {
      const appends = this.#queue;
      this.#queue = [];
      try {
        await this.#write(Buffer.concat(appends.map(({ bytes }) => bytes)));
        for (const { resolve } of appends) resolve();
      } catch (error) {
        for (const { reject } of appends) reject(error);
      }
    }
    this.#running = null;
  }

  async #open(): Promise<FileHandle> {
    await mkdir(dirname(this.path), { recursive: true });
    const file = await open(this.path, "a+");
    const { size } = await file.stat();
    this.#isTorn = await endsInLine(file, size);
    // Without this the name of a new file may be lost, and all that is in it.
    if (size === 0) await syncFolder(dirname(this.path));
    this.#file = file;
    return file;
  }

  async #write(lines: Buffer): Promise<void> {
    const file = this.#file ?? (await this.#open());
    const bytes = this.#isTorn ? Buffer.concat([newline, lines]) : lines;
    this.#isTorn = true;
    for (let at = 0; at < bytes.length;) {
      const { bytesWritten } = await file.write(bytes, at);
      at += bytesWritten;
    }
    this.#isTorn = false;
    await file.datasync();
  }
}
