/** How a task's rollouts came out, and whether a step can learn from them. Pure. */
import { isUniform } from "../algorithms/statistics.ts";
import { isFailed } from "./episode-metrics.ts";
import type { RolloutSet } from "./rollout-set.ts";

/** `partial`: right and wrong ones, so they can be compared; `too_few`: not enough were scored. */
export const solveOutcomes = ["partial", "all", "none", "too_few"] as const;
export type SolveOutcome = (typeof solveOutcomes)[number];

/**
 * By `isCorrect`. Where nobody judged that, equal rewards count as `all` above 0, else as `none`.
 * Rollouts that failed are left out.
 */
export function solveOutcome({ episodes }: RolloutSet, minScored: number): SolveOutcome {
  const scored = episodes.filter((episode) => !isFailed(episode) && episode.reward !== null);
  if (scored.length < Math.max(1, minScored)) return "too_few";
  const rewards = scored.map((episode) => episode.reward ?? 0);
  if (scored.every(({ isCorrect }) => isCorrect === null)) {
    if (!isUniform(rewards)) return "partial";
    return (rewards[0] ?? 0) > 0 ? "all" : "none";
  }
  const right = scored.filter(({ isCorrect }) => isCorrect === true).length;
  if (right === scored.length) return "all";
  return right === 0 ? "none" : "partial";
}

/** Counts of a step's rollouts by outcome. */
export class SolveCounts {
  readonly #counts = { partial: 0, all: 0, none: 0, too_few: 0 };

  add(outcome: SolveOutcome): void {
    this.#counts[outcome]++;
  }

  /** `batch/num_tasks` and the shares `batch/solve_...` of them; nothing where there was none. */
  metrics(): Record<string, number> {
    const total = solveOutcomes.reduce((sum, outcome) => sum + this.#counts[outcome], 0);
    if (total === 0) return { "batch/num_tasks": 0 };
    const shares = solveOutcomes.map((outcome) => [
      outcome === "too_few" ? "batch/too_few" : `batch/solve_${outcome}`,
      this.#counts[outcome] / total,
    ]);
    return { "batch/num_tasks": total, ...Object.fromEntries(shares) };
  }
}
