/** What run folders hold, read without changing them: for lists of runs. */
import { createReadStream, existsSync } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { parse } from "yaml";
import { ConfigError } from "../../core/errors.ts";
import { listCheckpoints } from "./checkpoint.ts";
import { stepName } from "./run-log.ts";
import { isLocked } from "./run-lock.ts";

/** A run as it is on disk; `null` where it has no such number yet. */
export interface RunSummary {
  /** Name of its folder. */
  readonly name: string;
  /** Absolute path of its folder. */
  readonly path: string;
  readonly model: string;
  readonly backend: string;
  /** `running`: a process holds its lock. `stopped`: it ended without a result, as after a kill. */
  readonly status:
    | "running"
    | "completed"
    | "untrained"
    | "out_of_budget"
    | "interrupted"
    | "failed"
    | "stopped";
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

const configFile = "config.resolved.yaml";

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
      if ("val/loss" in line) consider(step, asNumber(line["val/loss"]), "val/loss", -1);
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

async function readEnd(folder: string) {
  let totalSteps: number | null = null;
  let status: RunSummary["status"] = "stopped";
  await eachLine(
    join(folder, "events.jsonl"),
    (line) => line.includes('"type":"run-'),
    (event) => {
      if (event["type"] === "run-start") {
        totalSteps = asNumber(event["totalSteps"]);
        status = "stopped";
      }
      if (event["type"] === "run-end") status = event["status"] as RunSummary["status"];
    },
  );
  return {
    totalSteps: totalSteps as number | null,
    status: isLocked(folder) ? ("running" as const) : status,
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
 * @throws ConfigError when the folder holds no run.
 */
export async function readRun(folder: string): Promise<RunSummary> {
  const path = resolve(folder);
  const text = await readFile(join(path, configFile), "utf8").catch((cause: unknown) => {
    throw new ConfigError({
      message: `There is no run in ${path}: it has no ${configFile}.`,
      hint: "Name the folder of a run; agent-trainer runs list shows those of a folder.",
      cause,
      fields: { path },
    });
  });
  const config = parse(text) as {
    readonly backend?: string;
    readonly model?: { readonly name?: string };
    readonly trainer?: { readonly best_metric?: string };
  } | null;
  const checkpoints: { step: number; bytes: number }[] = [];
  for (const step of await listCheckpoints(join(path, "checkpoints"))) {
    checkpoints.push({ step, bytes: await sizeOf(join(path, "checkpoints", stepName(step))) });
  }
  return {
    name: basename(path),
    path,
    model: config?.model?.name ?? "",
    backend: config?.backend ?? "",
    ...(await readEnd(path)),
    ...(await readProgress(path, config?.trainer?.best_metric ?? "val/reward/mean")),
    checkpoints,
    bytes: await sizeOf(path),
    updatedAt: Math.round(await lastWrite(path)),
  };
}

/**
 * Reads all runs of a folder, the one written last first.
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
    if (existsSync(join(path, name, configFile))) runs.push(await readRun(join(path, name)));
  }
  return runs.sort((a, b) => b.updatedAt - a.updatedAt);
}
