/** Tasks in a file without a name, with the position of each: for datasets that do not fit into memory. */
import { randomUUID } from "node:crypto";
import { closeSync, constants, openSync, readSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Dataset, Task } from "../../core/task.ts";

const flushBytes = 2 ** 20;

/** Of libuv: Windows, which keeps the name of a file while it is open, deletes it when the handle is closed. */
const deleteAtClose = 0x40;

/** A file that goes when its handle is closed, however the process ends. */
function openNameless(): number {
  const path = join(tmpdir(), `agent-trainer-dataset-${randomUUID()}.jsonl`);
  const isWindows = process.platform === "win32";
  const { O_RDWR, O_CREAT, O_EXCL } = constants;
  const flags = O_RDWR | O_CREAT | O_EXCL | (isWindows ? deleteAtClose : 0);
  const handle = openSync(path, flags, 0o600);
  if (!isWindows) rmSync(path);
  return handle;
}

/** Open files are closed when nothing refers to them anymore. */
const handles = new FinalizationRegistry((handle: number) => closeSync(handle));

/** Collects tasks, and leaves their number and positions. */
export class TaskFile {
  readonly #handle: number;
  readonly #starts: number[] = [];
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  #end = 0;

  constructor() {
    this.#handle = openNameless();
    handles.register(this, this.#handle);
  }

  get length(): number {
    return this.#starts.length;
  }

  /** Adds a task, written as JSON. */
  push(text: string): void {
    const bytes = Buffer.from(text);
    this.#starts.push(this.#end);
    this.#end += bytes.length;
    this.#pending.push(bytes);
    this.#pendingBytes += bytes.length;
    if (this.#pendingBytes >= flushBytes) this.#flush();
  }

  #flush(): void {
    const bytes = Buffer.concat(this.#pending);
    for (let written = 0; written < bytes.length;) {
      written += writeSync(this.#handle, bytes, written);
    }
    [this.#pending, this.#pendingBytes] = [[], 0];
  }

  /** What was collected; nothing can be added afterwards. */
  finish(): StoredTasks {
    this.#flush();
    const starts = Float64Array.from([...this.#starts, this.#end]);
    return new StoredTasks(this, starts, Uint32Array.from(this.#starts.keys()));
  }

  read(start: number, end: number): Task {
    const bytes = Buffer.allocUnsafe(end - start);
    for (let done = 0; done < bytes.length;) {
      const count = readSync(this.#handle, bytes, done, bytes.length - done, start + done);
      if (count === 0) throw new Error("The temporary file of a dataset was cut off.");
      done += count;
    }
    return JSON.parse(bytes.toString("utf8")) as Task;
  }
}

/** Tasks that are read from a file when they are asked for. */
export class StoredTasks implements Dataset {
  readonly #file: TaskFile;
  /** Of every task in the file, and the end of the last one. */
  readonly #starts: Float64Array;
  readonly #chosen: Uint32Array;

  constructor(file: TaskFile, starts: Float64Array, chosen: Uint32Array) {
    this.#file = file;
    this.#starts = starts;
    this.#chosen = chosen;
  }

  get length(): number {
    return this.#chosen.length;
  }

  at(index: number): Task | undefined {
    const place = this.#chosen.at(index);
    if (place === undefined) return undefined;
    return this.#file.read(this.#starts[place] as number, this.#starts[place + 1] as number);
  }

  *[Symbol.iterator](): Iterator<Task> {
    for (let index = 0; index < this.length; index++) yield this.at(index) as Task;
  }

  /** The tasks at these positions, in this order. */
  pick(indices: readonly number[]): StoredTasks {
    const chosen = Uint32Array.from(indices, (index) => this.#chosen[index] as number);
    return new StoredTasks(this.#file, this.#starts, chosen);
  }
}
