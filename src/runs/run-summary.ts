/** What run folders hold, read without changing them: for lists of runs. */
import { createReadStream, existsSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { ConfigError } from "../core/errors.ts";
import { listCheckpoints } from "./checkpoint.ts";
import { stepName } from "./run-log.ts";
import { isLocked } from "./run-lock.ts";
import { configFile, readStoredConfig, textAt } from "./stored-config.ts";

/** How a run says that it ended. */
const ends = ["completed", "untrained", "out_of_budget", "interrupted", "failed"] as const;

/** A run as it is on disk; `null` where it has no such number yet. */
export interface RunSummary {
  /** Name of its folder. */
  readonly name: string;
  /** Absolute path of its folder. */
  readonly path: string;
  readonly model: string;
  readonly backend: string;
  /**
   * `running`: a process holds its lock. `stopped`: it ended without a result, as after a kill. `unreadable`: its
   * configuration cannot be read; only `listRuns` returns it.
   */
  readonly status: (typeof ends)[number] | "running" | "stopped" | "unreadable";
  /** Why it failed, ended early or learned nothing, or cannot be read; `null` where there is nothing to say. */
  readonly reason: string | null;
  /** Steps with metrics. */
  readonly steps: number;
  readonly totalSteps: number | null;
  /** Mean training reward of the first step. */
  readonly firstReward: number | null;
  /** Mean training reward of the last step. */
  readonly lastReward: number | null;
  /** Loss of the first update of fine-tuning; `null` for other runs. */
  readonly firstLoss: number | null;
  /** Loss of the last update of fine-tuning; `null` for other runs. */
  readonly lastLoss: number | null;
  /** The validation with the highest `trainer.best_metric`, or of fine-tuning with the lowest `val/loss`. */
  readonly bestValidation: {
    readonly step: number;
    readonly value: number;
    readonly metric: string;
  } | null;
  /** Newest first. */
  readonly checkpoints: readonly { readonly step: number; readonly bytes: number }[];
  /** Size of the whole folder. */
  readonly bytes: number;
  /** When its log was last written, in milliseconds since the epoch. */
  readonly updatedAt: number;
}

type Fields = Readonly<Record<string, unknown>>;

/** Calls `use` with each line that is a JSON object; a line that is cut off is dropped. */
async function eachLine(
  file: string,
  isWanted: (line: string) => boolean,
  use: (value: Fields) => void,
): Promise<void> {
  if (!existsSync(file)) return;
  for await (const line of createInterface({ input: createReadStream(file) })) {
    if (!isWanted(line)) continue;
    try {
      use(JSON.parse(line) as Fields);
    } catch {
      // Cut off by a kill, or being written right now.
    }
  }
}

const asNumber = (value: unknown): number | null => (typeof value === "number" ? value : null);

async function readProgress(folder: string, bestMetric: string) {
  let [steps, firstReward, lastReward] = [0, null as number | null, null as number | null];
  let [firstLoss, lastLoss] = [null as number | null, null as number | null];
  let best: RunSummary["bestValidation"] = null;
  const consider = (step: number, value: number | null, metric: string, sign: 1 | -1): void => {
    if (value === null) return;
    if (best === null || sign * value > sign * best.value) best = { step, value, metric };
  };
  await eachLine(
    join(folder, "metrics.jsonl"),
    () => true,
    (line) => {
      const step = asNumber(line["step"]) ?? 0;
      if (line["phase"] === "train") {
        steps = Math.max(steps, step);
        lastReward = asNumber(line["reward/mean"]) ?? lastReward;
        firstReward ??= lastReward;
        lastLoss = asNumber(line["train/loss"]) ?? lastLoss;
        firstLoss ??= lastLoss;
        return;
      }
      const isOfLoss = !(bestMetric in line) || bestMetric === "val/loss";
      if (isOfLoss && "val/loss" in line)
        consider(step, asNumber(line["val/loss"]), "val/loss", -1);
      else consider(step, asNumber(line[bestMetric]), bestMetric, 1);
    },
  );
  const isFineTuning = lastReward === null;
  return {
    steps,
    firstReward,
    lastReward,
    firstLoss: isFineTuning ? firstLoss : null,
    lastLoss: isFineTuning ? lastLoss : null,
    bestValidation: best as RunSummary["bestValidation"],
  };
}

/** What is said where the run's log says nothing. */
const notRecorded: Readonly<Partial<Record<RunSummary["status"], string>>> & {
  readonly stopped: string;
} = {
  stopped: "It ended without a result, as after a kill or a power failure.",
  failed: "Its log does not say why.",
};

async function readEnd(folder: string) {
  let totalSteps: number | null = null;
  let status: RunSummary["status"] = "stopped";
  let reason: string | null = notRecorded.stopped;
  await eachLine(
    join(folder, "events.jsonl"),
    (line) => line.includes('"type":"run-'),
    (event) => {
      if (event["type"] === "run-start") {
        totalSteps = asNumber(event["totalSteps"]);
        [status, reason] = ["stopped", notRecorded.stopped];
      }
      if (event["type"] !== "run-end") return;
      const { status: end, message } = event;
      status = ends.find((one) => one === end) ?? "stopped";
      const isTold = typeof message === "string" && message !== "";
      reason = isTold ? message : (notRecorded[status] ?? null);
    },
  );
  const isRunning = isLocked(folder);
  return {
    totalSteps: totalSteps as number | null,
    status: isRunning ? ("running" as const) : status,
    reason: isRunning ? null : (reason as string | null),
  };
}

/** A file may disappear while a run is writing. */
async function sizeOf(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  let bytes = 0;
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const found = await stat(join(entry.parentPath, entry.name)).catch(() => null);
    bytes += found?.size ?? 0;
  }
  return bytes;
}

async function lastWrite(folder: string): Promise<number> {
  const files = [configFile, "events.jsonl", "metrics.jsonl"].map((name) =>
    stat(join(folder, name)).catch(() => null),
  );
  return Math.max(0, ...(await Promise.all(files)).map((found) => found?.mtimeMs ?? 0));
}

/**
 * Reads a run folder, without changing or locking it.
 *
 * @example
 * const { status, lastReward } = await readRun("runs/shop");
 *
 * @throws ConfigError when the folder holds no run, or its configuration cannot be read.
 */
export async function readRun(folder: string): Promise<RunSummary> {
  const path = resolve(folder);
  const config = readStoredConfig(path);
  const checkpoints: { step: number; bytes: number }[] = [];
  for (const step of await listCheckpoints(join(path, "checkpoints"))) {
    checkpoints.push({ step, bytes: await sizeOf(join(path, "checkpoints", stepName(step))) });
  }
  return {
    name: basename(path),
    path,
    model: textAt(config, "model.name"),
    backend: textAt(config, "backend"),
    ...(await readEnd(path)),
    ...(await readProgress(path, textAt(config, "trainer.best_metric") || "val/reward/mean")),
    checkpoints,
    bytes: await sizeOf(path),
    updatedAt: Math.round(await lastWrite(path)),
  };
}

/** As `readRun`, for lists: a run that cannot be read must not hide the others. Never rejects. */
export async function readListedRun(path: string): Promise<RunSummary> {
  try {
    return await readRun(path);
  } catch (error) {
    return {
      name: basename(path),
      path,
      model: "",
      backend: "",
      status: "unreadable",
      reason: (error as Error).message,
      ...{ steps: 0, totalSteps: null, firstReward: null, lastReward: null },
      ...{ firstLoss: null, lastLoss: null, bestValidation: null, checkpoints: [] },
      bytes: await sizeOf(path),
      updatedAt: Math.round(await lastWrite(path)),
    };
  }
}

/**
 * Reads all runs of a folder, the one written last first. One that cannot be read has the status `unreadable`.
 *
 * @param folder Folder of the runs, as `trainer.output_dir`. @default "runs"
 *
 * @example
 * for (const { name, status, steps } of await listRuns("runs")) console.log(name, status, steps);
 *
 * @throws ConfigError when the folder does not exist.
 */
export async function listRuns(folder = "runs"): Promise<readonly RunSummary[]> {
  const path = resolve(folder);
  const names = await readdir(path).catch((cause: unknown) => {
    throw new ConfigError({
      message: `${path} cannot be read, so there are no runs to list.`,
      hint: "Name the folder that trainer.output_dir names; it is runs by default.",
      cause,
      fields: { path },
    });
  });
  const runs: RunSummary[] = [];
  for (const name of names) {
    if (existsSync(join(path, name, configFile))) runs.push(await readListedRun(join(path, name)));
  }
  return runs.sort((a, b) => b.updatedAt - a.updatedAt);
}
