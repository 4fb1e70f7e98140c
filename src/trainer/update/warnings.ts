/** What a run and its steps say about rollouts and rows: each thing once in a run. */
import { adaptersOf } from "../../config/adapter-map.ts";
import type { TrainConfig } from "../../config/train-config.ts";
import type { BackendCapabilities, TrainingBackend } from "../../core/backend.ts";
import { backendsThat } from "../../core/capabilities.ts";
import type { TrainingRow } from "../../core/loss/training-row.ts";
import type { NamedMetrics } from "../../core/metric-names.ts";
import { isFailed, isOverflowed, isScored } from "../../core/outcome.ts";
import type { TrajectoryGroup } from "../../core/trajectory.ts";
import { episodesOf, type TaskRollouts } from "../../rollouts/task-rollouts.ts";
import { nearestName } from "../../util/nearest-name.ts";
import type { RunContext } from "../run-context.ts";
import { unusedReasons } from "./unused.ts";
import { logprobTemperatureOf } from "./update-spec.ts";

type Warned = Pick<RunContext, "backend" | "config" | "emit" | "warnOnce">;

/** Warnings where tokens are not sampled from the policy that is trained. */
export function temperatureWarnings(
  config: TrainConfig,
  { name, capabilities }: Pick<TrainingBackend, "name" | "capabilities">,
): string[] {
  const { temperature } = config.rollout.train;
  if (temperature === 1) return [];
  const option = `rollout.train.temperature=${temperature}`;
  if (temperature === 0) {
    return [
      `${option}: tokens are chosen greedily, but the policy at temperature 1 is trained, and all rollouts of a task are the same.`,
    ];
  }
  if (logprobTemperatureOf(config, capabilities) === "sampling") return [];
  const gap =
    "Rewards are those of the former, updates those of the latter, and nothing corrects for the difference.";
  if (config.algorithm.logprobTemperature === "one") {
    return [
      `${option} with algorithm.logprob_temperature=one: tokens are sampled from softmax(logits / ${temperature}), but the policy at temperature 1 is trained. ${gap}`,
    ];
  }
  const others = backendsThat((row) => row.temperature === true).join(" and ");
  return [
    `${option}: the backend ${name} can train log-probabilities at temperature 1 only, so algorithm.logprob_temperature=sampling has no effect. Tokens are sampled from softmax(logits / ${temperature}), but the policy at temperature 1 is trained. ${gap} Sample at temperature 1, or use a backend that trains at any temperature: ${others}.`,
  ];
}

/** Failures that are scored do not end a run, so they are reported. */
export function warnOfFailures(
  { config, warnOnce }: Warned,
  step: number,
  rollouts: readonly TaskRollouts[],
): void {
  const episodes = episodesOf(rollouts);
  const failed = episodes.filter(isFailed);
  const last = failed.findLast(({ error }) => error !== undefined)?.error;
  if (failed.length > 0 && failed.length === episodes.length) {
    const reason = last === undefined ? "" : ` The last error: ${last.name}: ${last.message}`;
    warnOnce("all failed", `All ${failed.length} rollouts of step ${step} failed.${reason}`);
  }
  if (episodes.length > 0 && episodes.every(isOverflowed)) {
    const { message = "", hint = "" } =
      episodes.findLast(({ error }) => error !== undefined)?.error ?? {};
    warnOnce(
      "all overflowed",
      `All ${episodes.length} rollouts of step ${step} ended because a prompt did not fit. ${message} ${hint}`.trimEnd(),
    );
  }
  const { failureReward } = config.rollout;
  const lowest = episodes.reduce(
    (least, episode) =>
      isFailed(episode) || !isScored(episode) ? least : Math.min(least, episode.reward ?? least),
    Infinity,
  );
  if (failed.some(isScored) && lowest < failureReward) {
    warnOnce(
      "failing is rewarded",
      `Rollouts that failed have the reward rollout.failure_reward=${failureReward}, more than the ${lowest} of one that did not: failing is rewarded. Set it to the evaluator's lowest.`,
    );
  }
}

/** A role that no rollout of the first step has is probably misspelled. */
export function warnOfRoles(
  { config, warnOnce }: Warned,
  step: number,
  groups: readonly TrajectoryGroup[],
): void {
  if (groups.length === 0) return;
  const roles = [...new Set(groups.map(({ name }) => name))];
  const { estimatorByRole, lossByRole } = config.algorithm;
  const adapters = [...adaptersOf(config.model.adapterByRole)];
  const trained = adapters.filter(([, adapter]) => adapter !== null);
  for (const [option, named] of [
    ["algorithm.estimator_by_role", estimatorByRole.map(({ role }) => role)],
    ["algorithm.loss_by_role", lossByRole.map(({ role }) => role)],
    ["model.adapter_by_role", trained.map(([role]) => role)],
  ] as const) {
    for (const role of named) {
      if (roles.includes(role)) continue;
      const nearest = nearestName(role, roles);
      const guess = nearest === undefined ? "" : ` Is it ${nearest}?`;
      warnOnce(
        `${option} of ${role}`,
        `${option} names the role ${role}, but step ${step} had ${roles.join(", ")} only.${guess}`,
      );
    }
  }
}

/** A signal that no rollout has changes nothing, and looks as if it counted. */
function warnOfSignals(
  { warnOnce }: Pick<Warned, "warnOnce">,
  metrics: Readonly<NamedMetrics>,
): void {
  for (const key of Object.keys(metrics)) {
    const { role, name } =
      /^signals\/(?<role>.+)\/(?<name>[^/]+)\/missing$/u.exec(key)?.groups ?? {};
    if (name === undefined || `signals/${role}/${name}/mean` in metrics) continue;
    warnOnce(
      `signal ${name} of ${role}`,
      `algorithm.estimator.weights names the signal ${name}, but no rollout of the role ${role} has it: an evaluator returns signals as { reward, isCorrect, signals: [{ name, value }] }.`,
    );
  }
}

/** Why log-probabilities of some rows are not used; null where all are. */
function lackWarning(
  rows: readonly TrainingRow[],
  config: TrainConfig,
  { forward }: BackendCapabilities,
): string | null {
  const lacking = rows.filter(({ lacksSamplingLogprobs = false }) => lacksSamplingLogprobs);
  const [first] = lacking;
  if (first === undefined) return null;
  const { temperature = 1 } = first;
  const which =
    temperature === 1
      ? `after rollout.train.temperature=${config.rollout.train.temperature}`
      : "before temperature";
  const remedy =
    temperature === 1
      ? 'a vLLM server with --logprobs-mode raw_logprobs and logprobKind "raw"'
      : 'a vLLM server with --logprobs-mode processed_logprobs and logprobKind "processed"';
  const what = `${lacking.length} of ${rows.length} rows come from a server that returns log-probabilities ${which}, but the policy at temperature ${temperature} is trained.`;
  return forward
    ? `${what} The trainer computes them itself before each update, which costs a forward pass and cannot distinguish rollouts of earlier weights from those of the current ones. To use the server's own, choose ${remedy}.`
    : `${what} The backend cannot compute them itself, so the ratios of the loss are wrong by the difference. Choose ${remedy}, or sample at temperature 1.`;
}

const nothingCaptured =
  "No rollout of this step left anything to train on. Does the agent send its calls to config.baseUrl, with config.apiKey?";

interface RowFacts {
  readonly rollouts: readonly TaskRollouts[];
  /** Rows before corrections. */
  readonly built: readonly TrainingRow[];
  readonly metrics: Readonly<NamedMetrics>;
}

/** What became of the rollouts on the way to rows. */
export function warnOfRows(
  { backend, config, emit, warnOnce }: Warned,
  step: number,
  { rollouts, built, metrics }: RowFacts,
): void {
  warnOfSignals({ warnOnce }, metrics);
  const lack = lackWarning(built, config, backend.capabilities);
  if (lack !== null) warnOnce("log-probabilities are not used", lack);
  const episodes = episodesOf(rollouts);
  const hasOtherCause = episodes.every((each) => isOverflowed(each) || isFailed(each));
  if (metrics["groups/trajectories_after"] === 0 && !hasOtherCause) {
    emit(step, { type: "warning", message: nothingCaptured });
  }
  for (const { key, count, what, why, how, isWanted } of unusedReasons(config, episodes, metrics)) {
    const message = `${count} ${what} of step ${step} ${why}. ${how}. This is said once; rollout/unused counts them.`;
    warnOnce(`unused: ${key}`, message, isWanted === true ? "notice" : "warning");
  }
}
