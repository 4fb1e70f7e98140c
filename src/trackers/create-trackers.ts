/** The trackers that a configuration names. */
import { configFields } from "../config/fields.ts";
import { configTree } from "../config/parse.ts";
import type { TrainConfig } from "../config/train-config.ts";
import { valueAt } from "../config/tree.ts";
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

/** Creates them; nothing is opened or sent before the run starts. */
export function createTrackers(config: TrainConfig): readonly Tracker[] {
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
  return trackers.map((name) => create[name]());
}
