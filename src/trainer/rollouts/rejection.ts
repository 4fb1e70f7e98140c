/**
 * How the rollouts of a task came out, and whether a step can learn from them. These are two
 * questions: learning needs differences of reward; the solve outcome is for reporting. Pure.
 */
import { isUniform } from "../../algorithms/statistics.ts";
import { isScored } from "../../core/outcome.ts";
import type { GroupMember } from "../../core/trajectory.ts";
import type { TrainConfig } from "../../config/train-config.ts";
import { groupsOf } from "../update/episode-rows.ts";
import type { TaskRollouts } from "./task-rollouts.ts";

/** By the evaluator's `isCorrect`; `unjudged`: it was given for none; `too_few`: too few were scored. */
export const solveOutcomes = ["partial", "all", "none", "unjudged", "too_few"] as const;
export type SolveOutcome = (typeof solveOutcomes)[number];

export interface JudgedSet {
  readonly outcome: SolveOutcome;
  /** Rewards that train differ. */
  readonly hasContrast: boolean;
  /** There is contrast, and enough rollouts were scored. */
  readonly isUseful: boolean;
}

function solveOutcome({ episodes }: TaskRollouts, minScored: number): SolveOutcome {
  const scored = episodes.filter(isScored);
  if (scored.length < Math.max(1, minScored)) return "too_few";
  if (scored.every(({ isCorrect }) => isCorrect === null)) return "unjudged";
  const right = scored.filter(({ isCorrect }) => isCorrect === true).length;
  if (right === scored.length) return "all";
  return right === 0 ? "none" : "partial";
}

const stepRewards = ({ trajectory }: GroupMember): string =>
  trajectory.steps.map(({ reward }) => reward).join();

/** Whether the rewards of a task's rollouts differ, as they reach the loss: by role, shaped, filtered. */
export function hasContrast(config: TrainConfig, set: TaskRollouts): boolean {
  const { stepwiseAdvantage, algorithm } = config;
  const isPerStep = stepwiseAdvantage.enable && stepwiseAdvantage.mode === "per_step";
  return groupsOf(config, [set]).groups.some(({ members }) => {
    if (!isUniform(members.map(({ reward }) => reward))) return true;
    if (isPerStep && new Set(members.map(stepRewards)).size > 1) return true;
    if (!algorithm.usePrecomputedAdvantage) return false;
    const steps = members.flatMap(({ trajectory }) => trajectory.steps);
    return steps.some(({ advantage }) => advantage !== undefined);
  });
}

export function judgeSet(config: TrainConfig, set: TaskRollouts): JudgedSet {
  const outcome = solveOutcome(set, config.rejectionSample.minTrajsPerGroup);
  const differs = hasContrast(config, set);
  return { outcome, hasContrast: differs, isUseful: differs && outcome !== "too_few" };
}

/** Counts of a step's rollouts by outcome. */
export class SolveCounts {
  readonly #counts = { partial: 0, all: 0, none: 0, unjudged: 0, too_few: 0 };
  #equal = 0;

  add({ outcome, hasContrast: differs }: JudgedSet): void {
    this.#counts[outcome]++;
    if (!differs) this.#equal++;
  }

  /**
   * `batch/num_tasks` and, as fractions of it, `batch/solve_...`, `batch/unjudged`, `batch/too_few`
   * and `batch/equal_rewards`; empty where there was no task.
   */
  metrics(): Record<string, number> {
    const total = solveOutcomes.reduce((sum, outcome) => sum + this.#counts[outcome], 0);
    if (total === 0) return { "batch/num_tasks": 0 };
    const shares = solveOutcomes.map((outcome) => [
      outcome === "too_few" || outcome === "unjudged"
        ? `batch/${outcome}`
        : `batch/solve_${outcome}`,
      this.#counts[outcome] / total,
    ]);
    return {
      "batch/num_tasks": total,
      ...Object.fromEntries(shares),
      "batch/equal_rewards": this.#equal / total,
    };
  }
}
