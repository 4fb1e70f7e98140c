/** Metrics of a validation: rewards and pass@k, over all tasks and per data source. */
import { isFailed, isScored } from "../../core/outcome.ts";
import type { Episode } from "../../core/trajectory.ts";
import { areJudged, meanOf, ownMetrics, setIfDefined } from "./episode-metrics.ts";
import { passAtK } from "./pass-at-k.ts";

type Metrics = Record<string, number>;

/** The source of a task: `metadata.data_source`, when that is a string. */
export function dataSource({ task }: Episode): string | null {
  const source = (task.metadata as Readonly<Record<string, unknown>> | null)?.["data_source"];
  return typeof source === "string" && source !== "" ? source : null;
}

function byKey<K>(episodes: readonly Episode[], keyOf: (episode: Episode) => K): Map<K, Episode[]> {
  const groups = new Map<K, Episode[]>();
  for (const episode of episodes) {
    const key = keyOf(episode);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [episode]);
    else group.push(episode);
  }
  return groups;
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

/**
 * `reward/mean`, and `pass@k` for k from 1 to `n` if a rollout was scored as correct or incorrect; a
 * failed one is incorrect.
 */
function scores(
  episodes: readonly Episode[],
  prefix: string,
  { n, failureReward }: Scale,
): Metrics {
  const metrics: Metrics = {};
  const rewards = episodes.flatMap((episode) => {
    if (episode.reward !== null && isScored(episode)) return [episode.reward];
    return isFailed(episode) ? [failureReward] : [];
  });
  setIfDefined(metrics, `${prefix}/reward/mean`, meanOf(rewards));
  if (!areJudged(episodes)) return metrics;
  const tasks = [...byKey(episodes, ({ task }) => task.id).values()].map((own) => ({
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
  for (const [source, own] of byKey(episodes, dataSource)) {
    if (source === null) continue;
    Object.assign(metrics, scores(own, `val/${source}`, scale), {
      [`val/${source}/episodes`]: own.length,
    });
  }
  metrics["val/episodes"] = episodes.length;
  metrics["val/failed"] = episodes.filter(isFailed).length;
  return { ...metrics, ...ownMetrics(episodes, "val/") };
}
