/**
 * Checkpoints of a run: `checkpoints/000010/` with `weights/` (written by the backend),
 * `rollouts.jsonl` where the run buffers rollouts for later steps, `state.json` and its hash in
 * `state.sha256`. Written under another name, synced to disk and renamed, so a folder with a proper
 * name is complete; hashes of every file detect later damage.
 */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join, sep } from "node:path";
import { CheckpointError } from "../core/errors.ts";
import { fileError } from "../core/file-error.ts";
import { writeFolderAtomic } from "../util/files/atomic-write.ts";
import { rename } from "../util/files/rename.ts";
import type { CurriculumState } from "./adaptive-batches.ts";
import type { Usage } from "./spending.ts";
import { isHeld } from "./checkpoint-lease.ts";
import { stepName } from "./run-log.ts";
import type { TaskRollouts } from "../rollouts/task-rollouts.ts";
import { packRollouts, unpackRollouts } from "./stored-rollouts.ts";
import type { TrainConfig } from "../config/train-config.ts";

const format = "agent-trainer/checkpoint/4";
const stateFile = "state.json";
const hashFileName = "state.sha256";
const rolloutFile = "rollouts.jsonl";

/** How far the tasks have been used. */
export interface DataPosition {
  /** Batches begun; in asynchronous training, tasks begun. */
  readonly next: number;
  /** Of those, the ones whose rollouts have not ended: they run again. */
  readonly pending: readonly number[];
}

/** The best validation so far. */
export interface BestValidation {
  readonly step: number;
  /** Of `trainer.best_metric`. */
  readonly value: number;
}

/** How long validations have not been better, for early stopping. */
export interface Patience {
  /** Of `trainer.best_metric`: what the next validation is compared with. */
  readonly value: number;
  /** Validations in a row that were not better. */
  readonly waited: number;
}

/** How tasks are ordered, or were up to a resume. */
export interface TaskOrder extends Pick<TrainConfig["data"], "seed"> {
  readonly curriculum: TrainConfig["data"]["curriculum"]["type"];
  readonly difficultyKey?: string;
  /** Hash of the tasks with their difficulties; null where those do not matter. */
  readonly hash: string | null;
  /** Tasks begun when another order took over; null for the newest order. */
  readonly until: number | null;
}

/** State of a run after `step` steps. */
export interface RunState {
  readonly step: number;
  readonly position: DataPosition;
  /** Consecutive skipped updates up to this step. */
  readonly skippedUpdates: number;
  readonly best: BestValidation | null;
  /** Absent before the first validation. */
  readonly patience?: Patience | null;
  /** Version of the weights that are served. */
  readonly weightVersion: number;
  /**
   * Whether weights were trained that are not served yet: a checkpoint holds those, and not the
   * served ones.
   */
  readonly hasUnservedWeights: boolean;
  /** Versions first served by a resume, and not by a planned weight sync; ascending. */
  readonly resumeVersions: readonly number[];
  /** Step after which the last validation was done; -1 = none. */
  readonly validatedStep: number;
  /** What the run has used; absent where nothing is limited and nothing has a price. */
  readonly spent?: Usage;
  /** Hash of the options that decide what the run computes. */
  readonly configHash: string;
  /** Hash of the training tasks, in the order of their dataset. */
  readonly dataHash: string;
  /** In which orders they were taken, oldest first; absent in older checkpoints, and in fine-tuning. */
  readonly orders?: readonly TaskOrder[];
  /** Only with `data.curriculum=solve_rate`. */
  readonly curriculum?: CurriculumState;
  /** Hash of the validation tasks that `best` and `patience` were measured on; absent in older checkpoints. */
  readonly valHash?: string;
}

/**
 * The state that a resumed run starts from: it serves the weights of the checkpoint. If those had not
 * been served before, they get a new version, so that a version never names two sets of
 * weights.
 */
export function servedState(state: RunState): RunState {
  if (!state.hasUnservedWeights) return state;
  const weightVersion = state.weightVersion + 1;
  return {
    ...state,
    weightVersion,
    hasUnservedWeights: false,
    resumeVersions: [...state.resumeVersions, weightVersion],
  };
}

interface FileFacts {
  readonly bytes: number;
  readonly sha256: string;
}

interface StateFile extends RunState {
  readonly format: string;
  /** By path inside `weights/`. */
  readonly files: Readonly<Record<string, FileFacts>>;
  /** Of `rollouts.jsonl`; null where there is none. */
  readonly rollouts: FileFacts | null;
}

/** A checkpoint on disk. */
export interface Checkpoint {
  readonly path: string;
  readonly weights: string;
  /** Of its state, which has the hashes of all files. */
  readonly sha256: string;
  readonly state: RunState;
  /** That wait for a later step, oldest first. */
  readonly rollouts: readonly TaskRollouts[];
}

/** Their paths with `/`, since a checkpoint may be read on another system. */
async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .map((path) => path.split(sep).join("/"))
    .sort();
}

async function hashFile(path: string): Promise<FileFacts> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return { bytes: (await stat(path)).size, sha256: hash.digest("hex") };
}

/** In the format that `sha256sum` writes and checks. */
function hashLine(state: string | Buffer): string {
  return `${createHash("sha256").update(state).digest("hex")}  ${stateFile}\n`;
}

/**
 * Saves a checkpoint; `writeWeights` fills an empty folder. Returns the checkpoint's path. Buffered
 * rollouts are read before the first wait, since rollouts continue during the rest.
 */
export async function saveCheckpoint(
  root: string,
  state: RunState,
  writeWeights: (folder: string) => Promise<void>,
  rollouts: readonly TaskRollouts[] = [],
): Promise<string> {
  const packed = packRollouts(rollouts);
  const name = stepName(state.step);
  const path = join(root, name);
  const temporary = join(root, `.tmp-${name}`);
  const fill = async (folder: string): Promise<void> => {
    await mkdir(join(folder, "weights"));
    await writeWeights(join(folder, "weights"));
    await writeState(folder, state, packed);
  };
  await writeFolderAtomic(path, fill, temporary).catch((error: unknown) => {
    throw fileError(error, { path: temporary }) ?? error;
  });
  return path;
}

/** @param packed rollouts as lines; "" for none */
async function writeState(folder: string, state: RunState, packed: string): Promise<void> {
  const weights = join(folder, "weights");
  const files: Record<string, FileFacts> = {};
  for (const file of await listFiles(weights)) files[file] = await hashFile(join(weights, file));
  const rolloutPath = join(folder, rolloutFile);
  if (packed !== "") await writeFile(rolloutPath, packed);
  const content: StateFile = {
    format,
    ...state,
    files,
    rollouts: packed === "" ? null : await hashFile(rolloutPath),
  };
  const text = `${JSON.stringify(content, null, 2)}\n`;
  await writeFile(join(folder, stateFile), text);
  await writeFile(join(folder, hashFileName), hashLine(text));
}

/** Steps that have a checkpoint, newest first. */
export async function listCheckpoints(root: string): Promise<number[]> {
  const names = await readdir(root).catch(() => []);
  return names
    .filter((name) => /^\d{6,}$/u.test(name))
    .map(Number)
    .sort((a, b) => b - a);
}

/** In place of a name: a folder of a proper name is complete until it is gone. */
const prunedPrefix = ".pruned-";

/**
 * Deletes all but the newest `keep`, that of step `best`, and those in use. Who reads one finds it whole, or not at
 * all.
 */
export async function pruneCheckpoints(
  root: string,
  keep: number,
  best: number | null,
): Promise<void> {
  // What a kill has left.
  for (const name of await readdir(root).catch(() => []))
    if (name.startsWith(prunedPrefix)) await rm(join(root, name), { recursive: true, force: true });
  for (const step of (await listCheckpoints(root)).slice(keep)) {
    const path = join(root, stepName(step));
    if (step === best || isHeld(path)) continue;
    const temporary = join(root, `${prunedPrefix}${stepName(step)}`);
    await rename(path, temporary);
    // One who began to use it since then looks for it after that.
    if (isHeld(path)) {
      await rename(temporary, path);
      continue;
    }
    await rm(temporary, { recursive: true, force: true });
  }
}

/**
 * Reads a checkpoint and checks every file's hash.
 * @throws CheckpointError that says what differs.
 */
export async function readCheckpoint(root: string, step: number): Promise<Checkpoint> {
  const path = join(root, stepName(step));
  const damaged = (what: string, cause?: unknown): CheckpointError =>
    new CheckpointError({
      message: `The checkpoint ${path} cannot be used: ${what}.`,
      hint: "An earlier checkpoint of the run may still be intact.",
      cause,
      fields: { path, what },
    });
  let content: StateFile;
  let bytes: Buffer;
  const hash = await readFile(join(path, hashFileName)).catch(() => null);
  try {
    bytes = await readFile(join(path, stateFile));
    content = JSON.parse(bytes.toString("utf8")) as StateFile;
  } catch (error) {
    throw damaged("state.json is missing or broken", error);
  }
  if (hash !== null && !hash.equals(Buffer.from(hashLine(bytes)))) {
    throw damaged("the content of state.json does not match state.sha256");
  }
  if (content.format !== format) {
    throw damaged(`its format is ${JSON.stringify(content.format)}, not "${format}"`);
  }
  if (hash === null) throw damaged("state.sha256 is missing");
  if (content.step !== step) throw damaged(`state.json is of step ${content.step}`);
  const check = async (name: string, expected: FileFacts): Promise<void> => {
    const found = await hashFile(join(path, name)).catch((error: unknown) => {
      throw damaged(`${name} is missing`, error);
    });
    if (found.bytes !== expected.bytes) {
      throw damaged(`${name} has ${found.bytes} bytes instead of ${expected.bytes}`);
    }
    if (found.sha256 !== expected.sha256) throw damaged(`the content of ${name} has changed`);
  };
  for (const [file, expected] of Object.entries(content.files)) {
    await check(join("weights", file), expected);
  }
  if (content.rollouts !== null) await check(rolloutFile, content.rollouts);
  const rollouts =
    content.rollouts === null
      ? []
      : unpackRollouts(
          await readFile(join(path, rolloutFile), "utf8").catch((error: unknown) => {
            throw damaged(`${rolloutFile} is missing`, error);
          }),
        );
  const { format: _format, files: _files, rollouts: _rollouts, ...state } = content;
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  return { path, weights: join(path, "weights"), sha256, state, rollouts };
}

/**
 * The newest intact checkpoint, or null. A damaged one is reported and, unless `isReadOnly`, moved aside, so
 * that it is neither read again nor counted.
 */
export async function newestCheckpoint(
  root: string,
  onDamaged: (error: CheckpointError) => void,
  isReadOnly = false,
): Promise<Checkpoint | null> {
  for (const step of await listCheckpoints(root)) {
    try {
      return await readCheckpoint(root, step);
    } catch (error) {
      if (!(error instanceof CheckpointError)) throw error;
      onDamaged(error);
      if (isReadOnly) continue;
      const temporary = join(root, `.damaged-${stepName(step)}`);
      await rm(temporary, { recursive: true, force: true });
      await rename(join(root, stepName(step)), temporary);
    }
  }
  return null;
}
