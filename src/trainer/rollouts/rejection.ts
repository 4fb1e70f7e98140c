/**
 * How the rollouts of a task came out, and whether a step can learn from them. These are two
 * questions: learning needs differences of reward; the solve outcome is for reporting. Pure.
 */
import { hasPrecomputed } from "../../algorithms/precomputed.ts";
import { isScored } from "../../core/outcome.ts";
import type { TrainConfig } from "../../config/train-config.ts";
import { groupsOf, teaches } from "../update/episode-rows.ts";
import { type StepGroups, usesCritic } from "../update/shape-rewards.ts";
import type { TaskRollouts } from "../../rollouts/task-rollouts.ts";

/** By the evaluator's `isCorrect`; `unknown`: it was given for none; `unscored`: no rollout was scored. */
const solveOutcomes = ["partial", "all", "none", "unknown", "unscored"] as const;
type SolveOutcome = (typeof solveOutcomes)[number];

const outcomeMetrics: Readonly<Record<SolveOutcome, string>> = {
  partial: "some_correct_fraction",
  all: "all_correct_fraction",
  none: "none_correct_fraction",
  unknown: "correctness_unknown_fraction",
  unscored: "unscored_fraction",
};

export interface AssessedTask {
  readonly outcome: SolveOutcome;
  /** The group of some role teaches. */
  readonly hasContrast: boolean;
  /** There is something to learn, and a rollout was scored. */
  readonly isUseful: boolean;
}

function solveOutcome({ episodes }: TaskRollouts): SolveOutcome {
  const scored = episodes.filter(isScored);
  if (scored.length === 0) return "unscored";
  if (scored.every(({ isCorrect }) => isCorrect === null)) return "unknown";
  const correct = scored.filter(({ isCorrect }) => isCorrect === true).length;
  if (correct === scored.length) return "all";
  return correct === 0 ? "none" : "partial";
}

/**
 * Whether the loss can learn from the rollouts of a task: the group of some role teaches, with shaped rewards, or
 * advantages come from the agent, a critic or a teacher. KL in the reward is not known before the update, and no
 * part of it.
 */
export function hasSignal(config: TrainConfig, { groups }: Pick<StepGroups, "groups">): boolean {
  if (config.distillation.teacher !== null) return groups.length > 0;
  return groups.some(
    (group) =>
      teaches(config, group) ||
      usesCritic(config, group.name) ||
      (config.algorithm.usePrecomputedAdvantage && hasPrecomputed(group)),
  );
}

export function assessTask(config: TrainConfig, rollouts: TaskRollouts): AssessedTask {
  const outcome = solveOutcome(rollouts);
  const grouped = groupsOf(config, [rollouts]);
  return {
    outcome,
    hasContrast: grouped.groups.some((group) => teaches(config, group)),
    isUseful: outcome !== "unscored" && hasSignal(config, grouped),
  };
}

/** Counts of a step's rollouts by outcome. */
export class SolveCounts {
  readonly #counts = { partial: 0, all: 0, none: 0, unknown: 0, unscored: 0 };
  #equal = 0;

  add({ outcome, hasContrast: differs }: AssessedTask): void {
    this.#counts[outcome]++;
    if (!differs) this.#equal++;
  }

  /**
   * `rejection_sample/tasks` and fractions of them: by outcome, and those whose rollouts teach nothing, as with equal rewards.
   * Without a task there are no fractions.
   */
  metrics(): Record<string, number> {
    const total = solveOutcomes.reduce((sum, outcome) => sum + this.#counts[outcome], 0);
    if (total === 0) return { "rejection_sample/tasks": 0 };
    const fractions = solveOutcomes.map((outcome) => [
      `rejection_sample/${outcomeMetrics[outcome]}`,
      this.#counts[outcome] / total,
    ]);
    return {
      "rejection_sample/tasks": total,
      ...Object.fromEntries(fractions),
      "rejection_sample/equal_rewards_fraction": this.#equal / total,
    };
  }
}
