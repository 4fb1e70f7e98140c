/** What a step says about its rollouts and rows: each thing once in a run. */
import type { TrainingRow } from "../../core/loss/training-row.ts";
import type { NamedMetrics } from "../../core/metrics/catalog.ts";
import { isFailed, isOverflowed, isScored } from "../../core/outcome.ts";
import type { TrajectoryGroup } from "../../core/trajectory.ts";
import { episodesOf, type TaskRollouts } from "../../rollouts/task-rollouts.ts";
import { nearestName } from "../../util/nearest-name.ts";
import type { RunContext } from "../run-context.ts";
import { lackWarning } from "./logprob-temperature.ts";
import { unusedReasons } from "./unused.ts";

type Warned = Pick<RunContext, "backend" | "config" | "emit" | "warnOnce">;

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
  for (const [option, map] of [
    ["estimator_by_role", estimatorByRole],
    ["loss_by_role", lossByRole],
  ] as const) {
    for (const { role } of map) {
      if (roles.includes(role)) continue;
      const nearest = nearestName(role, roles);
      const guess = nearest === undefined ? "" : ` Is it ${nearest}?`;
      warnOnce(
        `${option} of ${role}`,
        `algorithm.${option} names the role ${role}, but step ${step} had ${roles.join(", ")} only.${guess}`,
      );
    }
  }
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
