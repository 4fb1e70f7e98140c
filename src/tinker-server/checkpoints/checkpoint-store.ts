/**
 * Training runs and their checkpoints as folders. A checkpoint is written atomically, so one that is
 * visible is complete.
 */
import { readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { randomUUID } from "node:crypto";
import { writeFileAtomic, writeFolderAtomic } from "../../util/files/atomic-write.ts";
import { checkpointKinds, formatPath, type CheckpointPath } from "./checkpoint-path.ts";
import type { AdapterSpec } from "../model/adapter.ts";
import { RequestError } from "../request-error.ts";

export interface TrainingRun {
  readonly id: string;
  readonly sessionId: string;
  readonly baseModel: string;
  readonly spec: AdapterSpec;
  readonly userMetadata: Readonly<Record<string, unknown>> | null;
  readonly createdAt: string;
}

export interface Checkpoint extends CheckpointPath {
  readonly time: string;
  readonly sizeBytes: number;
  readonly isPublic: boolean;
  /** null: never. */
  readonly expiresAt: string | null;
  readonly baseModel: string;
  readonly spec: AdapterSpec;
  readonly userMetadata: Readonly<Record<string, unknown>> | null;
}

const runFile = "run.json";
/** What the store knows of a checkpoint, in addition to its content. */
export const checkpointFile = "checkpoint.json";

export class CheckpointStore {
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
  }

  /** Colons are no part of file names everywhere. */
  #runFolder(runId: string): string {
    if (!/^[\w:-]+$/u.test(runId)) throw new RequestError(404, `There is no run "${runId}".`);
    return join(this.#root, runId.replaceAll(":", "+"));
  }

  folderOf({ runId, kind, name }: CheckpointPath): string {
    return join(this.#runFolder(runId), kind, name);
  }

  async addRun(run: TrainingRun): Promise<void> {
    await writeJson(join(this.#runFolder(run.id), runFile), run);
  }

  /** @throws RequestError 404 */
  async run(runId: string): Promise<TrainingRun> {
    const run = await readJson<TrainingRun>(join(this.#runFolder(runId), runFile));
    if (run === null) throw new RequestError(404, `There is no training run "${runId}".`);
    return run;
  }

  /** Newest first. */
  async runs(): Promise<readonly TrainingRun[]> {
    const names = await readdir(this.#root).catch(() => []);
    const runs = await Promise.all(
      names.map((name) => readJson<TrainingRun>(join(this.#root, name, runFile))),
    );
    return runs
      .filter((run) => run !== null)
      .toSorted((a, b) => b.createdAt.localeCompare(a.createdAt) || b.id.localeCompare(a.id));
  }

  /**
   * @param write fills an empty folder.
   * @throws RequestError 409 when the name is taken and `overwrite` is not set.
   */
  async save(
    checkpoint: Omit<Checkpoint, "time" | "sizeBytes" | "isPublic">,
    overwrite: boolean,
    write: (folder: string) => Promise<void>,
  ): Promise<void> {
    const folder = this.folderOf(checkpoint);
    const taken = (await this.#read(folder)) !== null;
    if (taken && !overwrite)
      throw new RequestError(409, `Checkpoint ${formatPath(checkpoint)} already exists.`);
    const fill = async (temporary: string): Promise<void> => {
      await write(temporary);
      const sizeBytes = await folderSize(temporary);
      const time = new Date().toISOString();
      const facts: Checkpoint = { ...checkpoint, time, sizeBytes, isPublic: false };
      await writeFile(join(temporary, checkpointFile), toJson(facts));
    };
    // Not among the checkpoints, and not that of another request for the same name.
    const temporary = join(this.#runFolder(checkpoint.runId), `.${randomUUID()}`);
    await writeFolderAtomic(folder, fill, temporary);
  }

  /** null when there is none, or its time is over. */
  async #read(folder: string): Promise<Checkpoint | null> {
    const found = await readJson<Checkpoint>(join(folder, checkpointFile));
    if (found === null || found.expiresAt === null || Date.parse(found.expiresAt) > Date.now())
      return found;
    await rm(folder, { recursive: true, force: true });
    return null;
  }

  async has(path: CheckpointPath): Promise<boolean> {
    return (await this.#read(this.folderOf(path))) !== null;
  }

  /** @throws RequestError 404 */
  async find(path: CheckpointPath): Promise<Checkpoint> {
    const found = await this.#read(this.folderOf(path));
    if (found === null) throw new RequestError(404, `There is no checkpoint ${formatPath(path)}.`);
    return found;
  }

  async change(
    path: CheckpointPath,
    change: Partial<Pick<Checkpoint, "isPublic" | "expiresAt">>,
  ): Promise<void> {
    const found = await this.find(path);
    await writeJson(join(this.folderOf(path), checkpointFile), { ...found, ...change });
  }

  async remove(path: CheckpointPath): Promise<void> {
    await this.find(path);
    await rm(this.folderOf(path), { recursive: true });
  }

  /** Newest first. */
  async checkpointsOf(runId: string): Promise<readonly Checkpoint[]> {
    const found: Checkpoint[] = [];
    for (const kind of checkpointKinds) {
      const folder = join(this.#runFolder(runId), kind);
      for (const name of await readdir(folder).catch(() => [])) {
        const checkpoint = await this.#read(join(folder, name));
        if (checkpoint !== null) found.push(checkpoint);
      }
    }
    return found.toSorted((a, b) => b.time.localeCompare(a.time));
  }
}

const toJson = (value: TrainingRun | Checkpoint): string => JSON.stringify(value, null, 2);

/** Two requests may change one file at the same time. */
async function writeJson(file: string, value: TrainingRun | Checkpoint): Promise<void> {
  await writeFileAtomic(file, toJson(value), `${file}.${randomUUID()}`);
}

async function readJson<T>(file: string): Promise<T | null> {
  const text = await readFile(file, "utf8").catch(() => null);
  return text === null ? null : (JSON.parse(text) as T);
}

async function folderSize(folder: string): Promise<number> {
  const sizes = await Promise.all(
    (await readdir(folder)).map(async (name) => (await stat(join(folder, name))).size),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
