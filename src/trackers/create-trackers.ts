/** The trackers that a configuration names. */
import { configFields } from "../config/fields.ts";
import { configTree } from "../config/parse.ts";
import type { TrainConfig } from "../config/train-config.ts";
import { valueAt } from "../config/tree.ts";
import { ConfigError } from "../core/errors.ts";
import type { TrackedRun, Tracker } from "../core/tracker.ts";
import { redactOptions } from "../util/redact.ts";
import { createMlflowTracker } from "./mlflow/mlflow.ts";
import { createOpenTelemetryTracker } from "./open-telemetry/open-telemetry.ts";
import { createPrometheusTracker } from "./prometheus.ts";
import { createTensorBoardTracker } from "./tensorboard.ts";
import { createWandbTracker } from "./wandb/wandb.ts";

type TrackerName = TrainConfig["tracking"]["trackers"][number];

/** Every option by its dotted name; values that look like keys are redacted. */
function trackedRun(config: TrainConfig): TrackedRun {
  const tree = redactOptions(configTree(config));
  const values = configFields()
    .map(({ key }) => [key, valueAt(tree, key)] as const)
    .filter(([, value]) => value !== undefined);
  return { project: config.tracking.project, config: Object.fromEntries(values) };
}

/** `Authorization` for MLflow, from the variables that its own clients read. */
function mlflowAuthorization(env: NodeJS.ProcessEnv): string | null {
  const token = env["MLFLOW_TRACKING_TOKEN"];
  if (token !== undefined && token !== "") return `Bearer ${token}`;
  const user = env["MLFLOW_TRACKING_USERNAME"];
  if (user === undefined || user === "") return null;
  const password = env["MLFLOW_TRACKING_PASSWORD"] ?? "";
  return `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
}

/** @throws ConfigError for what is not a tracker, as JavaScript may pass it. */
function requireTracker(given: Tracker, index: number): Tracker {
  const { name, events, track } = (given ?? {}) as Partial<Tracker>;
  const missing =
    typeof name !== "string"
      ? "a name (a string)"
      : !Array.isArray(events)
        ? "events (a list of types, such as step-end and run-end)"
        : typeof track !== "function"
          ? "a method track"
          : null;
  if (missing === null) return given;
  throw new ConfigError({
    message: `trackers[${index}]${typeof name === "string" ? ` (${name})` : ""} is not a tracker: it lacks ${missing}.`,
    hint: "Pass objects { name, events, track(event, signal) }; docs/trackers.md has an example.",
    fields: { index },
  });
}

/**
 * Creates those that the configuration names, and adds custom ones; nothing is opened or sent before the run starts.
 * @throws ConfigError for what is not a tracker.
 */
export function createTrackers(
  config: TrainConfig,
  custom: readonly Tracker[] = [],
): readonly Tracker[] {
  const { trackers, wandb, mlflow, prometheus, opentelemetry } = config.tracking;
  const run = trackedRun(config);
  const create: Readonly<Record<TrackerName, () => Tracker>> = {
    tensorboard: createTensorBoardTracker,
    wandb: () => createWandbTracker(run, wandb),
    mlflow: () =>
      createMlflowTracker(run, { ...mlflow, authorization: mlflowAuthorization(process.env) }),
    prometheus: () => createPrometheusTracker(prometheus),
    opentelemetry: () => createOpenTelemetryTracker(run, opentelemetry),
  };
  return [...trackers.map((name) => create[name]()), ...custom.map(requireTracker)];
}
