/**
 * The folder of one run: found or created, locked, its run log open, and the checkpoint to resume
 * from.
 */
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { rm } from "node:fs/promises";
import { basename, dirname, join, resolve as resolvePath } from "node:path";
import { stringify } from "yaml";
import { CheckpointError, ConfigError } from "../core/errors.ts";
import type { ConfigChange } from "../core/events.ts";
import { fileError, namingFile } from "../core/file-error.ts";
import { writeFileAtomicSync } from "../util/files/atomic-write.ts";
import { rename } from "../util/files/rename.ts";
import {
  type Checkpoint,
  listCheckpoints,
  newestCheckpoint,
  readCheckpoint,
  type RunState,
} from "./checkpoint.ts";
import { namedCheckpoint } from "../util/files/checkpoint-name.ts";
import { configTree } from "../config/parse.ts";
import type { TrainConfig } from "../config/train-config.ts";
import { cutRunLog, type RunLog, openRunLog, stepName } from "./run-log.ts";
import { checkChanges, configChanges } from "./run-identity.ts";
import { lockRun } from "./run-lock.ts";
import { redactOptions } from "../util/redact.ts";
import { endRecorded, recordProcesses } from "../util/process/process-record.ts";
import { configFile, readStoredConfig } from "./stored-config.ts";

/**
 * `false`: starts a new run. `"auto"`: resumes the run of `trainer.experiment_name` (or, without a
 * name, the newest one in `trainer.output_dir`) if there is one. A path: resumes the run in that
 * folder, from its newest checkpoint or from the one that the path names (`runs/shop/best`,
 * `runs/shop/checkpoints/000010`).
 */
export type ResumeMode = false | "auto" | (string & {});

/** Disposing closes the run log and releases the lock; it may be done twice. */
export interface RunDirectory extends Disposable {
  readonly path: string;
  readonly checkpoints: string;
  readonly journal: RunLog;
  /** The checkpoint to resume from; null starts at step 0. */
  readonly checkpoint: Checkpoint | null;
  /** Problems found on the way. */
  readonly warnings: readonly string[];
  /** Options that differ from those that the run was saved with. */
  readonly changes: readonly ConfigChange[];
  /** Removes a folder that this process created, for a run that failed to start; closes it in any case. */
  discard(): void;
}

export interface OpenRunOptions {
  readonly config: TrainConfig;
  readonly resume: ResumeMode;
  /** Whether options that decide what the run computes may differ from those of the earlier run. */
  readonly allowChanges: boolean;
  /** Whether a checkpoint was trained on the data of now. @throws CheckpointError that says what differs. */
  readonly checkData: (
    saved: RunState,
    run: { readonly folder: string; readonly changes: readonly ConfigChange[] },
  ) => void;
}

/** Only while agents and servers run. */
const processFile = "processes.jsonl";

const holdsRun = (folder: string): boolean => existsSync(join(folder, configFile));

/** A folder whose run ended before its first result may be used again. */
function hasProgress(folder: string): boolean {
  const metrics = statSync(join(folder, "metrics.jsonl"), { throwIfNoEntry: false });
  const checkpoints = join(folder, "checkpoints");
  const saved = existsSync(checkpoints) ? readdirSync(checkpoints) : [];
  return (metrics?.size ?? 0) > 0 || saved.some((name) => !name.startsWith("."));
}

function newName(): string {
  const time = new Date().toISOString().slice(0, 19).replaceAll(":", "-");
  return `${time}-${randomBytes(3).toString("hex")}`;
}

function newestRun(outputDir: string): string | null {
  if (!existsSync(outputDir)) return null;
  const runs = readdirSync(outputDir)
    .map((name) => join(outputDir, name))
    .filter(holdsRun)
    .map((path) => ({ path, time: statSync(join(path, configFile)).mtimeMs }))
    .sort((a, b) => b.time - a.time);
  return runs[0]?.path ?? null;
}

/** Step of the checkpoint that `resume` names; null for the newest one. */
function namedStep(resume: ResumeMode): { readonly run: string; readonly step: number | null } {
  const path = namedCheckpoint(
    resolvePath(resume === false ? "" : resume),
    (why) => new CheckpointError(why),
  );
  const root = dirname(path);
  const isStep = /^\d{6,}$/u.test(basename(path)) && basename(root) === "checkpoints";
  return isStep && holdsRun(dirname(root))
    ? { run: dirname(root), step: Number(basename(path)) }
    : { run: path, step: null };
}

/** They would be taken for the newest of the run that continues before them. */
async function setAsideAfter(root: string, step: number): Promise<string[]> {
  const later = (await listCheckpoints(root)).filter((each) => each > step);
  for (const each of later) {
    const aside = join(root, `.replaced-${stepName(each)}`);
    await rm(aside, { recursive: true, force: true });
    await rename(join(root, stepName(each)), aside);
  }
  if (later.length === 0) return [];
  return [
    `The run continues from step ${step}: ${later.length} later checkpoint(s) were renamed to ${join(root, ".replaced-*")}.`,
  ];
}

function locate({ config, resume }: OpenRunOptions): string {
  const { outputDir, experimentName } = config.trainer;
  if (resume !== false && resume !== "auto") {
    const { run: path } = namedStep(resume);
    if (holdsRun(path)) return path;
    throw new CheckpointError({
      message: `There is no run to continue in ${path}: it has no ${configFile}.`,
      hint: 'Give the run folder itself, or "auto".',
      fields: { path },
    });
  }
  const named = experimentName === null ? null : resolvePath(outputDir, experimentName);
  if (resume === "auto") {
    return named ?? newestRun(resolvePath(outputDir)) ?? resolvePath(outputDir, newName());
  }
  if (named !== null && holdsRun(named) && hasProgress(named)) {
    throw new ConfigError({
      message: `The folder ${named} already holds a run.`,
      hint: "Continue it with --resume FOLDER (in code, resume), choose another trainer.experiment_name, or delete the folder.",
      fields: { path: named },
    });
  }
  return named ?? resolvePath(outputDir, newName());
}

interface Found {
  readonly checkpoint: Checkpoint | null;
  readonly changes: readonly ConfigChange[];
}

const nothingFound: Found = { checkpoint: null, changes: [] };

async function findCheckpoint(
  path: string,
  options: OpenRunOptions,
  warnings: string[],
): Promise<Found> {
  const { resume, config, allowChanges, checkData } = options;
  const isOptional = resume === "auto" || resume === false;
  const root = join(path, "checkpoints");
  if (isOptional && !(holdsRun(path) && hasProgress(path))) {
    if (resume === "auto") {
      const { experimentName, outputDir } = config.trainer;
      const where = experimentName === null ? resolvePath(outputDir) : path;
      warnings.push(`There is no run to resume in ${where}; a new one starts in ${path}.`);
    }
    return nothingFound;
  }
  const changes = configChanges(readStoredConfig(path), config);
  // A run that starts over need not be the same.
  const startsOver = isOptional && (await listCheckpoints(root)).length === 0;
  if (!startsOver) checkChanges(changes, path, allowChanges);
  const { step } = isOptional ? { step: null } : namedStep(resume);
  const isReadOnly = config.trainer.valOnly;
  const checkpoint =
    step === null
      ? await newestCheckpoint(root, (error) => void warnings.push(error.message), isReadOnly)
      : await readCheckpoint(root, step);
  if (checkpoint === null) {
    if (isOptional) {
      warnings.push(`The run in ${path} has no checkpoint to resume from; it starts over.`);
      return nothingFound;
    }
    throw new CheckpointError({
      message: `The run in ${path} has no checkpoint that can be used.`,
      hint: 'Start a new run. To start this one over, use --resume without a folder (in code: resume: "auto") and trainer.experiment_name.',
      fields: { path, warnings },
    });
  }
  checkData(checkpoint.state, { folder: path, changes });
  if (step !== null && !isReadOnly) warnings.push(...(await setAsideAfter(root, step)));
  return { checkpoint, changes };
}

function writeConfig(path: string, config: TrainConfig): void {
  const text = stringify(redactOptions(configTree(config)));
  writeFileAtomicSync(join(path, configFile), text, { mode: 0o600 });
}

interface TakenFolder {
  readonly path: string;
  readonly checkpoints: string;
  readonly unlock: () => void;
  /** Whether this process created it. */
  readonly isNew: boolean;
}

/** The folder, created if missing, and locked. */
function takeFolder(path: string): TakenFolder {
  const checkpoints = join(path, "checkpoints");
  const isNew = !existsSync(path);
  mkdirSync(checkpoints, { recursive: true });
  return { path, checkpoints, unlock: lockRun(path), isNew };
}

/** Of a validation of a run that is there, which it leaves as it is: next to it. */
function validationFolder(run: string): string {
  return `${run}-validation-${newName()}`;
}

/**
 * Opens the folder that the options name. Validating a run alone (`trainer.val_only`) changes nothing of it:
 * its checkpoint is read, and what is recorded goes to a separate folder.
 * @throws AgentTrainerError RUN_LOCKED, ConfigError or CheckpointError; nothing stays locked then, and no
 * folder that was created for it.
 */
export async function openRunDirectory(options: OpenRunOptions): Promise<RunDirectory> {
  const { outputDir, valOnly } = options.config.trainer;
  const hint = `The run folder must be a folder that can be written; trainer.output_dir is ${outputDir}.`;
  const warnings: string[] = [];
  const run = namingFile({ hint }, () => locate(options));
  const isRead = valOnly && options.resume !== false && holdsRun(run) && hasProgress(run);
  const read = isRead ? await findCheckpoint(run, options, warnings) : null;
  const own = isRead ? validationFolder(run) : run;
  const { path, checkpoints, unlock, isNew } = namingFile({ hint }, () => takeFolder(own));
  const remove = (): void => {
    if (isNew) rmSync(path, { recursive: true, force: true });
  };
  try {
    endRecorded(join(path, processFile));
    const found = read ?? (await findCheckpoint(path, options, warnings));
    const { checkpoint } = found;
    for (const name of readdirSync(checkpoints).filter((entry) => entry.startsWith(".tmp-"))) {
      await rm(join(checkpoints, name), { recursive: true, force: true });
    }
    warnings.push(...cutRunLog(path, checkpoint?.state.step ?? -1));
    writeConfig(path, options.config);
    const { record, trainer } = options.config;
    const journal = openRunLog(path, {
      episodes: record.episodes,
      seed: trainer.seed,
      compression: record.compression,
    });
    const processes = recordProcesses(join(path, processFile));
    const close = (): void => {
      try {
        journal.close();
      } finally {
        processes[Symbol.dispose]();
        unlock();
      }
    };
    return {
      path,
      checkpoints,
      journal,
      ...found,
      warnings,
      discard() {
        close();
        remove();
      },
      [Symbol.dispose]: close,
    };
  } catch (error) {
    unlock();
    remove();
    throw fileError(error, { path }) ?? error;
  }
}
