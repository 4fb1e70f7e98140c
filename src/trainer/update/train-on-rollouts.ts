/** From rollouts to changed weights: rows, then updates. */
import { isFailed, isOverflowed, isScored } from "../../core/outcome.ts";
import type { TrainingRow } from "../../core/loss/training-row.ts";
import { applyUpdates, type Updates } from "./apply-updates.ts";
import type { TrainConfig } from "../../config/train-config.ts";
import { learningMetrics } from "./learning.ts";
import type { LoopContext } from "../loop-context.ts";
import { episodesOf, type TaskRollouts } from "../../rollouts/task-rollouts.ts";
import type { UpdateGuard } from "../stepper.ts";
import { KnownLogprobs, withKnownForward, withSharedForward } from "./shared-forward.ts";
import { recordTokens } from "./token-records.ts";
import { trainingRows } from "./training-rows.ts";
import { tellUnused } from "./unused.ts";

const nothingCaptured =
  "No rollout of this step left anything to train on. Does the agent send its calls to config.baseUrl, with config.apiKey?";

export interface TrainOptions {
  readonly guard: UpdateGuard;
  /** Consecutive skipped updates before this step. */
  readonly skippedUpdates: number;
  /** Checks the rows before they are trained on; may throw. */
  readonly check?: (rows: readonly TrainingRow[]) => void;
}

/** Warnings that runs have emitted. */
const warned = new WeakMap<TrainConfig, Set<string>>();

/** Failures that are scored do not end a run, so they are reported: once each. */
function warnOfFailures(
  { config, emit }: LoopContext,
  step: number,
  sets: readonly TaskRollouts[],
): void {
  const known = warned.get(config) ?? new Set();
  warned.set(config, known);
  const warn = (what: string, message: string): void => {
    if (known.has(what)) return;
    known.add(what);
    emit(step, { type: "warning", message });
  };
  const episodes = episodesOf(sets);
  const failed = episodes.filter(isFailed);
  const last = failed.findLast(({ error }) => error !== undefined)?.error;
  if (failed.length > 0 && failed.length === episodes.length) {
    const reason = last === undefined ? "" : ` The last error: ${last.name}: ${last.message}`;
    warn("all", `All ${failed.length} rollouts of step ${step} failed.${reason}`);
  }
  if (episodes.length > 0 && episodes.every(isOverflowed)) {
    const { message = "", hint = "" } =
      episodes.findLast(({ error }) => error !== undefined)?.error ?? {};
    warn(
      "overflow",
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
    warn(
      "reward",
      `Rollouts that failed have the reward rollout.failure_reward=${failureReward}, more than the ${lowest} of one that did not: failing is rewarded. Set it to the evaluator's lowest.`,
    );
  }
}

/** Trains on `sets` in step `step`. Served weights stay as they are. */
export async function trainOnRollouts(
  context: LoopContext,
  step: number,
  sets: readonly TaskRollouts[],
  { guard, skippedUpdates, check }: TrainOptions,
): Promise<Updates> {
  warnOfFailures(context, step, sets);
  const known = new KnownLogprobs();
  const shared = { ...context, backend: withSharedForward(context.backend, known) };
  const { rows, metrics } = await trainingRows(shared, step, sets);
  const hasOtherCause = episodesOf(sets).every((each) => isOverflowed(each) || isFailed(each));
  if (metrics["groups/trajectories_after"] === 0 && !hasOtherCause) {
    context.emit(step, { type: "warning", message: nothingCaptured });
  }
  tellUnused(context, step, { episodes: episodesOf(sets), metrics });
  check?.(rows);
  const reading = { ...context, backend: withKnownForward(context.backend, known) };
  await recordTokens(reading, step, rows);
  const updates = await applyUpdates(shared, step, rows, guard, skippedUpdates);
  const { hasChanged } = updates;
  return {
    ...updates,
    metrics: {
      ...metrics,
      ...updates.metrics,
      "train/skipped_steps": hasChanged ? 0 : 1,
      ...learningMetrics(context.config, { sets, rows, metrics, hasChanged }),
    },
  };
}
