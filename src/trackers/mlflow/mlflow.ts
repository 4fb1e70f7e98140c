/** MLflow: one run per training run, resumed under the id that `mlflow.json` of the run folder keeps. */
import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import type { TrainerEvent } from "../../core/events.ts";
import type { TrackedRun, Tracker } from "../../core/tracker.ts";
import { writeFileAtomicSync } from "../../util/files/atomic-write.ts";
import { numberEvents, numbersOf } from "../numbers.ts";
import { findExperiment, type MlflowRequest, mlflowRequests, type MlflowServer } from "./api.ts";

/** Limits of one `runs/log-batch`. */
const maxMetrics = 1000;
const maxParams = 100;
const maxParamLength = 6000;

const statuses = {
  completed: "FINISHED",
  untrained: "FINISHED",
  out_of_budget: "FINISHED",
  interrupted: "KILLED",
  failed: "FAILED",
} as const;

/** MLflow allows letters, digits, and `_-. :/` in names. */
const metricName = (name: string): string => name.replaceAll(/[^\w\-./ :]/gu, "_");

const paramText = (value: unknown): string =>
  (typeof value === "string" ? value : JSON.stringify(value)).slice(0, maxParamLength);

function* batches<T>(list: readonly T[], size: number): Generator<readonly T[]> {
  for (let at = 0; at < list.length; at += size) yield list.slice(at, at + size);
}

async function savedId(file: string): Promise<string | null> {
  try {
    const { runId } = JSON.parse(await readFile(file, "utf8")) as { runId?: unknown };
    return typeof runId === "string" ? runId : null;
  } catch {
    return null;
  }
}

/** Opens the MLflow run of a run folder, and returns its id. */
async function openRun(
  request: MlflowRequest,
  event: TrainerEvent & { readonly type: "run-start" },
  { project, config }: TrackedRun,
  signal: AbortSignal,
): Promise<string> {
  const file = join(event.runDir, "mlflow.json");
  const earlier = await savedId(file);
  if (earlier !== null) {
    await request("POST", "runs/update", { run_id: earlier, status: "RUNNING" }, signal);
    return earlier;
  }
  const { run } = (await request(
    "POST",
    "runs/create",
    {
      experiment_id: await findExperiment(request, project, signal),
      run_name: basename(event.runDir),
      start_time: event.time,
      tags: [{ key: "mlflow.source.name", value: "agent-trainer" }],
    },
    signal,
  )) as { run: { info: { run_id: string } } };
  const id = run.info.run_id;
  writeFileAtomicSync(file, `${JSON.stringify({ runId: id })}\n`);
  const params = Object.entries(config).map(([key, value]) => ({
    key: metricName(key),
    value: paramText(value),
  }));
  for (const part of batches(params, maxParams)) {
    await request("POST", "runs/log-batch", { run_id: id, params: part }, signal);
  }
  return id;
}

/** Metrics per step, options as parameters, and how the run ended, for an MLflow tracking server. */
export function createMlflowTracker(tracked: TrackedRun, server: MlflowServer): Tracker {
  const request = mlflowRequests(server);
  let id = "";
  return {
    name: "mlflow",
    events: ["run-start", ...numberEvents, "run-end"],
    async track(event, signal) {
      if (event.type === "run-start") id = await openRun(request, event, tracked, signal);
      const metrics = (numbersOf(event) ?? []).map(([key, value]) => ({
        key: metricName(key),
        value,
        timestamp: event.time,
        step: event.step,
      }));
      for (const part of batches(metrics, maxMetrics)) {
        await request("POST", "runs/log-batch", { run_id: id, metrics: part }, signal);
      }
      if (event.type === "run-end") {
        const end = { run_id: id, status: statuses[event.status], end_time: event.time };
        await request("POST", "runs/update", end, signal);
      }
    },
  };
}
