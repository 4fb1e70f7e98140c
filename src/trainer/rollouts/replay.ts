/**
 * Tasks of earlier steps that are trained on again. Their tokens keep the log-probabilities that they
 * were sampled with, so the loss sees the true ratio. Pure; the choice is a function of the seed and
 * the step.
 */
import { createRandom, deriveSeed, shuffled } from "../../util/random.ts";
import type { TrainConfig } from "../../config/train-config.ts";
import { hasSignal } from "./rejection.ts";
import type { TaskRollouts } from "../../rollouts/task-rollouts.ts";

/** Which of `kept` step `step` replays, in the order in which they were kept. */
export function chooseReplay(
  kept: readonly TaskRollouts[],
  { replay, trainer }: Pick<TrainConfig, "replay" | "trainer">,
  step: number,
): readonly TaskRollouts[] {
  const young = kept.filter(({ since }) => step - since <= replay.maxAge);
  const random = createRandom(deriveSeed(trainer.seed, "replay", step));
  const chosen = new Set(shuffled(young, random).slice(0, replay.tasks));
  return young.filter((one) => chosen.has(one));
}

/** What is kept after step `step`: those of its groups that have a learning signal. */
export function keepForReplay(
  kept: readonly TaskRollouts[],
  own: readonly TaskRollouts[],
  config: TrainConfig,
  step: number,
): readonly TaskRollouts[] {
  const { replay } = config;
  if (replay.tasks === 0) return [];
  const useful = own.filter((one) => hasSignal(config, one));
  return [...kept, ...useful]
    .filter(({ since }) => step + 1 - since <= replay.maxAge)
    .slice(-replay.capacity);
}

/** `replay/...` of a step, where anything is replayed. */
export function replayMetrics(
  { replay }: TrainConfig,
  used: readonly TaskRollouts[],
  kept: readonly TaskRollouts[],
  step: number,
): Record<string, number> {
  if (replay.tasks === 0) return {};
  const ages = used.map(({ since }) => step - since);
  return {
    "replay/used_tasks": used.length,
    "replay/kept_tasks": kept.length,
    ...(ages.length === 0
      ? {}
      : { "replay/age_mean": ages.reduce((sum, age) => sum + age, 0) / ages.length }),
  };
}
