/** The files that training reads, each row once; those of held-out turns in `val/`. */
import { mkdir, open, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { DigestSet } from "../../util/digest-set.ts";

const curatedNames = ["tasks", "demonstrations", "preferences", "feedback"] as const;
export type CuratedName = (typeof curatedNames)[number];

const bufferedChars = 2 ** 20;

class RowFile {
  readonly #file: FileHandle;
  readonly #seen = new DigestSet();
  #pending: string[] = [];
  #chars = 0;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  /** False where the row is there already. What was asked twice is one task, whatever was answered. */
  async add(row: Readonly<Record<string, unknown>>): Promise<boolean> {
    const line = JSON.stringify(row);
    const text = row["instruction"] === undefined ? line : JSON.stringify(row["messages"]);
    if (!this.#seen.add(text)) return false;
    this.#pending.push(line, "\n");
    this.#chars += line.length;
    if (this.#chars > bufferedChars) await this.#flush();
    return true;
  }

  async #flush(): Promise<void> {
    const text = this.#pending.join("");
    [this.#pending, this.#chars] = [[], 0];
    await this.#file.appendFile(text);
  }

  async close(): Promise<void> {
    await this.#flush();
    await this.#file.close();
  }
}

export class CuratedFiles {
  readonly #files: ReadonlyMap<string, RowFile>;

  private constructor(files: ReadonlyMap<string, RowFile>) {
    this.#files = files;
  }

  static async create(folder: string): Promise<CuratedFiles> {
    await mkdir(join(folder, "val"), { recursive: true });
    const files = new Map<string, RowFile>();
    for (const name of curatedNames) {
      for (const side of ["", "val/"])
        files.set(
          `${side}${name}`,
          new RowFile(await open(join(folder, `${side}${name}.jsonl`), "w")),
        );
    }
    return new CuratedFiles(files);
  }

  /** False for a duplicate. */
  add(
    name: CuratedName,
    isHeldOut: boolean,
    row: Readonly<Record<string, unknown>>,
  ): Promise<boolean> {
    return this.#files.get(`${isHeldOut ? "val/" : ""}${name}`)!.add(row);
  }

  async close(): Promise<void> {
    for (const file of this.#files.values()) await file.close();
  }
}
