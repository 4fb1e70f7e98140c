/** Metrics of a validation: rewards and pass@k, over all tasks and per data source. */
import { isFailed, isScored, isUserFault } from "../core/outcome.ts";
import type { Episode } from "../core/trajectory.ts";
import { groupBy } from "../util/group-by.ts";
import {
  dataSource,
  haveCorrectness,
  meanOf,
  ownMetrics,
  setIfDefined,
} from "./episode-metrics.ts";

type Metrics = Record<string, number>;

/**
 * pass@k, the probability that at least one of k rollouts is correct, from `n` of which `right` were.
 * Unbiased: 1 - C(n - c, k) / C(n, k), as a product that does not overflow (Chen et al. 2021,
 * arXiv:2107.03374). `k` from 1 to `n`.
 */
export function passAtK(n: number, right: number, k: number): number {
  if (n - right < k) return 1;
  let allWrong = 1;
  for (let i = n - right + 1; i <= n; i++) allWrong *= 1 - k / i;
  return 1 - allWrong;
}

interface Scale {
  /** Rollouts per task. */
  readonly n: number;
  /**
   * Reward that a failed rollout counts with, whatever its cause, so that the mean is not over
   * survivors only.
   */
  readonly failureReward: number;
}

/** The reward that an episode counts with in a validation; null for one that does not count. */
export function validationReward(
  episode: Pick<Episode, "terminationReason" | "reward" | "error">,
  failureReward: number,
): number | null {
  if (episode.reward !== null && isScored(episode)) return episode.reward;
  return isFailed(episode) && !isUserFault(episode) ? failureReward : null;
}

/**
 * `reward/mean`, and `pass@k` for k from 1 to `n` if a rollout was scored as correct or incorrect; a
 * failed one is incorrect.
 */
function scores(all: readonly Episode[], prefix: string, { n, failureReward }: Scale): Metrics {
  const metrics: Metrics = {};
  const episodes = all.filter((episode) => !isUserFault(episode));
  const rewards = episodes.flatMap((episode) => validationReward(episode, failureReward) ?? []);
  setIfDefined(metrics, `${prefix}/reward/mean`, meanOf(rewards));
  if (!haveCorrectness(episodes)) return metrics;
  const tasks = [...groupBy(episodes, ({ task }) => task.id).values()].map((own) => ({
    n: own.length,
    right: own.filter(({ isCorrect }) => isCorrect === true).length,
  }));
  for (let k = 1; k <= n; k++) {
    const rates = tasks.filter((task) => task.n >= k).map((task) => passAtK(task.n, task.right, k));
    setIfDefined(metrics, `${prefix}/pass@${k}`, meanOf(rates));
  }
  return metrics;
}

/** `val/...`, and `val/{source}/...` for each source that a task names. `n`: rollouts per task. */
export function validationMetrics(
  episodes: readonly Episode[],
  n: number,
  failureReward: number,
): Metrics {
  const scale = { n, failureReward };
  const metrics = scores(episodes, "val", scale);
  for (const [source, own] of groupBy(episodes, dataSource)) {
    if (source === null) continue;
    Object.assign(metrics, scores(own, `val/${source}`, scale), {
      [`val/${source}/episodes`]: own.length,
    });
  }
  metrics["val/episodes"] = episodes.length;
  metrics["val/failed"] = episodes.filter(isFailed).length;
  return { ...metrics, ...ownMetrics(episodes, "val/") };
}
