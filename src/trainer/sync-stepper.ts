/**
 * Synchronous steps: rollouts end before their update begins. Every token is sampled from the weights
 * that it trains, unless rejection sampling left it from the step before or it is replayed.
 */
import { trainEpisodeMetrics } from "../runs/episode-metrics.ts";
import { collectRollouts } from "./rollouts/collect.ts";
import type { LoopContext } from "./loop-context.ts";
import { chooseReplay, keepForReplay, replayMetrics } from "./rollouts/replay.ts";
import { episodesOf } from "../rollouts/task-rollouts.ts";
import { secondsSince, stepMetrics } from "./step-metrics.ts";
import type { Buffered, Stepper, StepResult, StepState, UpdateGuard } from "./stepper.ts";
import { trainOnRollouts } from "./update/train-on-rollouts.ts";

/** A synchronous stepper that resumes with the rollouts of a checkpoint. */
export function createSyncStepper(context: LoopContext, before: Buffered): Stepper {
  const { backend, config, gate } = context;
  let { waiting, replay } = before.rollouts;
  let { position } = before;

  async function step(number: number, state: StepState, guard: UpdateGuard): Promise<StepResult> {
    // Metrics are counted since the last call: what came before this step is dropped.
    await backend.metrics?.();
    const start = performance.now();
    const collected = await collectRollouts(context, number, state.position.next, waiting);
    const rolloutS = secondsSince(start);
    const { skippedUpdates } = state;
    const again = chooseReplay(replay, config, number);
    const sets = [...collected.sets, ...again];
    const trained = await trainOnRollouts(context, number, sets, { guard, skippedUpdates });
    const weightVersion = trained.hasChanged ? await gate.publish(backend) : state.weightVersion;
    const wallS = secondsSince(start);
    const { episodes } = collected;
    const episodeMetrics = trainEpisodeMetrics(
      episodes.length > 0 ? episodes : episodesOf(collected.sets),
    );
    waiting = collected.waiting;
    replay = keepForReplay(replay, collected.sets, config, number);
    position = { next: collected.batches, pending: [] };
    return {
      state: { weightVersion, position, skippedUpdates: trained.skippedInARow },
      stop: trained.stop,
      metrics: {
        ...episodeMetrics,
        ...collected.metrics,
        ...(config.replay.tasks === 0 ? {} : replayMetrics(again, replay, number)),
        ...trained.metrics,
        ...(await stepMetrics(context, { step: number, batches: collected.batches, wallS })),
        "time/rollout_s": rolloutS,
        "time/update_s": wallS - rolloutS,
        "tokens/per_s": rolloutS > 0 ? (episodeMetrics["tokens/sampled"] ?? 0) / rolloutS : 0,
        weight_version: weightVersion,
      },
    };
  }

  return {
    step,
    validating: (validation) => validation(),
    // Weights that have changed are served at the end of their step.
    held: () => ({ rollouts: { waiting, replay }, position, hasUnservedWeights: false }),
    [Symbol.asyncDispose]: async () => {},
  };
}
