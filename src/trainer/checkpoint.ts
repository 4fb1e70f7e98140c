/**
 * Checkpoints of a run: `checkpoints/000010/` with `weights/` (written by the backend),
 * `rollouts.jsonl` where the run holds rollouts for later, and `state.json`. Made under another name, synced to disk and renamed, so a folder with a proper name is
 * complete; hashes in `state.json` show when it was damaged later. Knows nothing of the loop.
 */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { CheckpointError } from "../core/errors.ts";
import { fileError } from "../core/file-error.ts";
import { stepName } from "./journal.ts";
import type { HeldRollouts } from "./held-rollouts.ts";
import { nothingHeld } from "./held-rollouts.ts";
import { packRollouts, unpackRollouts } from "./stored-rollouts.ts";

const format = "agent-trainer/checkpoint/2";
const rolloutFile = "rollouts.jsonl";

/** How far the tasks have been used. */
export interface DataPosition {
  /** Batches begun; where rollouts overlap with training, tasks begun. */
  readonly next: number;
  /** Of those, the ones whose rollouts have not come to an end: they are done again. */
  readonly pending: readonly number[];
}

/** The best validation so far. */
export interface BestValidation {
  readonly step: number;
  /** Of `trainer.best_metric`. */
  readonly value: number;
}

/** Where a run stands after `step` steps. */
export interface RunState {
  readonly step: number;
  readonly position: DataPosition;
  /** Updates in a row that were skipped, up to this step. */
  readonly skippedUpdates: number;
  readonly best: BestValidation | null;
  readonly weightVersion: number;
  /** Step after which the last validation was done; -1 = none. */
  readonly validatedStep: number;
  /** Options that decide what the run computes. */
  readonly configHash: string;
  /** The training tasks, in their order. */
  readonly dataHash: string;
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
  readonly state: RunState;
  readonly rollouts: HeldRollouts;
}

async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}

async function hashFile(path: string): Promise<FileFacts> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return { bytes: (await stat(path)).size, sha256: hash.digest("hex") };
}

/** Waits until a file's or folder's content is on the disk itself. */
async function syncPath(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function writeSynced(path: string, text: string): Promise<void> {
  const handle = await open(path, "w");
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Saves a checkpoint; `writeWeights` fills an empty folder. Returns the checkpoint's path. */
export async function saveCheckpoint(
  root: string,
  state: RunState,
  writeWeights: (folder: string) => Promise<void>,
  rollouts: HeldRollouts = nothingHeld,
): Promise<string> {
  const name = stepName(state.step);
  const aside = join(root, `.tmp-${name}`);
  try {
    return await fillCheckpoint(root, name, aside, state, writeWeights, rollouts);
  } catch (error) {
    // On a full disk its space is what is needed to go on.
    await rm(aside, { recursive: true, force: true }).catch(() => undefined);
    throw fileError(error, { path: aside }) ?? error;
  }
}

async function fillCheckpoint(
  root: string,
  name: string,
  aside: string,
  state: RunState,
  writeWeights: (folder: string) => Promise<void>,
  rollouts: HeldRollouts,
): Promise<string> {
  const weights = join(aside, "weights");
  await rm(aside, { recursive: true, force: true });
  await mkdir(weights, { recursive: true });
  await writeWeights(weights);
  const files: Record<string, FileFacts> = {};
  for (const file of await listFiles(weights)) {
    await syncPath(join(weights, file));
    files[file] = await hashFile(join(weights, file));
  }
  const held = packRollouts(rollouts);
  const rolloutPath = join(aside, rolloutFile);
  if (held !== "") await writeSynced(rolloutPath, held);
  const content: StateFile = {
    format,
    ...state,
    files,
    rollouts: held === "" ? null : await hashFile(rolloutPath),
  };
  await writeSynced(join(aside, "state.json"), `${JSON.stringify(content, null, 2)}\n`);
  await syncPath(weights);
  await syncPath(aside);
  const path = join(root, name);
  await rm(path, { recursive: true, force: true });
  await rename(aside, path);
  await syncPath(root);
  return path;
}

/** Steps that have a checkpoint, newest first. */
export async function listCheckpoints(root: string): Promise<number[]> {
  const names = await readdir(root).catch(() => []);
  return names
    .filter((name) => /^\d{6,}$/u.test(name))
    .map(Number)
    .sort((a, b) => b - a);
}

/** Deletes all but the newest `keep` and that of step `best`. */
export async function pruneCheckpoints(
  root: string,
  keep: number,
  best: number | null,
): Promise<void> {
  for (const step of (await listCheckpoints(root)).slice(keep)) {
    if (step === best) continue;
    await rm(join(root, stepName(step)), { recursive: true, force: true });
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
      hint: "An earlier checkpoint of the run may still be whole.",
      cause,
      fields: { path, what },
    });
  let content: StateFile;
  try {
    content = JSON.parse(await readFile(join(path, "state.json"), "utf8")) as StateFile;
  } catch (error) {
    throw damaged("state.json is missing or broken", error);
  }
  if (content.format !== format) {
    throw damaged(`its format is ${JSON.stringify(content.format)}, not "${format}"`);
  }
  if (content.step !== step) throw damaged(`state.json speaks of step ${content.step}`);
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
      ? nothingHeld
      : unpackRollouts(await readFile(join(path, rolloutFile), "utf8"));
  const { format: _format, files: _files, rollouts: _rollouts, ...state } = content;
  return { path, weights: join(path, "weights"), state, rollouts };
}

/**
 * The newest checkpoint that is whole, or null. A damaged one is reported and moved aside, so that it
 * is neither read again nor counted.
 */
export async function newestCheckpoint(
  root: string,
  onDamaged: (error: CheckpointError) => void,
): Promise<Checkpoint | null> {
  for (const step of await listCheckpoints(root)) {
    try {
      return await readCheckpoint(root, step);
    } catch (error) {
      if (!(error instanceof CheckpointError)) throw error;
      onDamaged(error);
      const aside = join(root, `.damaged-${stepName(step)}`);
      await rm(aside, { recursive: true, force: true });
      await rename(join(root, stepName(step)), aside);
    }
  }
  return null;
}
