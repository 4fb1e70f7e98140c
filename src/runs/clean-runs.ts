/** Deletes the checkpoints that neither a resume nor a comparison needs: all but the newest and the best. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { CheckpointError } from "../core/errors.ts";
import { type Checkpoint, readCheckpoint } from "./checkpoint.ts";
import { isHeld } from "./checkpoint-lease.ts";
import { isLocked, lockRun } from "./run-lock.ts";
import { stepName } from "./run-log.ts";
import { listRuns, readRun, type RunSummary } from "./run-summary.ts";

/** Options of {@link cleanRuns}. */
export interface CleanOptions {
  /** Folder of the runs. @default "runs" */
  readonly folder?: string;
  /** Deletes nothing, and returns what would be deleted. @default false */
  readonly dryRun?: boolean;
}

/** What {@link cleanRuns} did in one run. */
export interface CleanedRun {
  readonly name: string;
  readonly path: string;
  /** Steps whose checkpoints were deleted, newest first; in a dry run, those that would be. */
  readonly deleted: readonly number[];
  /** Steps whose checkpoints stay, newest first. */
  readonly kept: readonly number[];
  /** Bytes that the deleted checkpoints took. */
  readonly bytes: number;
  /** Why the run was left as it is; `null` where it was cleaned. */
  readonly skipped: string | null;
}

/**
 * Deletes old checkpoints of all runs of a folder. Of each run the newest intact checkpoint and that of
 * the best validation stay, those that another run of the folder names as its model, and those in use. A run that a
 * process is using, or that has no intact checkpoint, is left as it is.
 *
 * @example
 * const runs = await cleanRuns({ folder: "runs", dryRun: true });
 * console.log(runs.reduce((sum, { bytes }) => sum + bytes, 0), "bytes would be freed");
 *
 * @throws ConfigError when the folder does not exist.
 */
export async function cleanRuns(options: CleanOptions = {}): Promise<readonly CleanedRun[]> {
  const runs = await listRuns(options.folder);
  const models = runs.map(({ model }) => model);
  const cleaned: CleanedRun[] = [];
  for (const run of runs) cleaned.push(await cleanRun(run, models, options.dryRun === true));
  return cleaned;
}

async function cleanRun(
  seen: RunSummary,
  models: readonly string[],
  dryRun: boolean,
): Promise<CleanedRun> {
  if (isLocked(seen.path)) return untouched(seen, "a process is using it");
  const unlock = dryRun ? null : lockRun(seen.path);
  try {
    // Again under the lock: it may have been resumed since.
    const run = dryRun ? seen : await readRun(seen.path);
    const all = run.checkpoints.map(({ step }) => step);
    if (all.length < 2) return untouched(run, null);
    const root = join(run.path, "checkpoints");
    const newest = await newestIntact(root, all);
    if (newest === null) return untouched(run, "it has no intact checkpoint");
    const { step, best } = newest.state;
    const isNamed = (candidate: number): boolean => {
      const part = `${run.name}/checkpoints/${stepName(candidate)}`;
      return models.some((model) => model.replaceAll("\\", "/").includes(part));
    };
    const isOld = (candidate: number): boolean =>
      candidate < step &&
      candidate !== best?.step &&
      candidate !== run.bestValidation?.step &&
      !isNamed(candidate) &&
      !isHeld(join(root, stepName(candidate)));
    const old = run.checkpoints.filter((checkpoint) => isOld(checkpoint.step));
    if (!dryRun) {
      for (const checkpoint of old)
        await rm(join(root, stepName(checkpoint.step)), { recursive: true, force: true });
    }
    return {
      ...untouched(run, null),
      deleted: old.map((checkpoint) => checkpoint.step),
      kept: all.filter((candidate) => !isOld(candidate)),
      bytes: old.reduce((sum, checkpoint) => sum + checkpoint.bytes, 0),
    };
  } finally {
    unlock?.();
  }
}

function untouched({ name, path, checkpoints }: RunSummary, skipped: string | null): CleanedRun {
  return { name, path, deleted: [], kept: checkpoints.map(({ step }) => step), bytes: 0, skipped };
}

async function newestIntact(root: string, steps: readonly number[]): Promise<Checkpoint | null> {
  for (const step of steps) {
    try {
      return await readCheckpoint(root, step);
    } catch (error) {
      if (!(error instanceof CheckpointError)) throw error;
    }
  }
  return null;
}
