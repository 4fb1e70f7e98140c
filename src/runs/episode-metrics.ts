/** Metrics over a set of episodes. Those that depend on the clock are under `time/`. */
import { mean } from "../algorithms/statistics.ts";
import { isCutOff, isFailed, isScored } from "../core/outcome.ts";
import type { Episode } from "../core/trajectory.ts";
import { addTo, groupBy } from "../util/group-by.ts";

type Metrics = Record<string, number>;

/** Mean; `undefined` for an empty array. */
export function meanOf(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : values.reduce((sum, v) => sum + v, 0) / values.length;
}

/**
 * The rewards that train, one for each episode that has one, including failures caused by the agent.
 * If trajectories of an episode have different rewards, as a flow may report them, it is their mean.
 */
function rewardsOf(episodes: readonly Episode[]): number[] {
  return episodes.flatMap((episode) => {
    const { reward, trajectories } = episode;
    if (reward === null || !isScored(episode)) return [];
    const own = trajectories.flatMap(({ reward: part, untrained, steps }) =>
      part === null || untrained !== undefined || steps.length === 0 ? [] : [part],
    );
    return [own.length === 0 ? reward : mean(own)];
  });
}

/**
 * Whether any of the episodes was scored as correct or incorrect. A failed rollout says nothing about
 * how the others are scored.
 */
export function haveCorrectness(episodes: readonly Episode[]): boolean {
  const ended = episodes.filter((episode) => !isFailed(episode) && !isCutOff(episode));
  return ended.some(({ isCorrect }) => isCorrect !== null);
}

/**
 * Fraction of correct episodes; a failed one is incorrect. `undefined` when none was scored as
 * either.
 */
function passRate(episodes: readonly Episode[]): number | undefined {
  if (!haveCorrectness(episodes)) return undefined;
  const ended = episodes.filter((episode) => !isCutOff(episode));
  return meanOf(ended.map((episode) => (episode.isCorrect === true ? 1 : 0)));
}

/** Tokens that the policy sampled. */
export function sampledTokens(episodes: readonly Episode[]): number {
  let tokens = 0;
  for (const episode of episodes) {
    for (const trajectory of episode.trajectories) {
      for (const step of trajectory.steps) tokens += step.trace.responseIds.length;
    }
  }
  return tokens;
}

/** Mean of every episode metric over the episodes that have it: `episode/...`, `time/episode/...`. */
export function ownMetrics(episodes: readonly Episode[], prefix: string): Metrics {
  const values = new Map<string, number[]>();
  for (const episode of episodes) {
    for (const [key, value] of Object.entries(episode.metrics)) {
      if (Number.isFinite(value)) addTo(values, key, value);
    }
  }
  const out: Metrics = {};
  for (const [key, list] of values) {
    const name = key.startsWith("time/")
      ? `time/${prefix}episode/${key.slice("time/".length)}`
      : `${prefix}episode/${key}`;
    out[name] = meanOf(list) ?? 0;
  }
  return out;
}

/** Sets a metric unless its value is undefined. */
export function setIfDefined(metrics: Metrics, key: string, value: number | undefined): void {
  if (value !== undefined) metrics[key] = value;
}

/** The source of a task: `metadata.data_source`, when that is a string. */
export function dataSource({ task }: Pick<Episode, "task">): string | null {
  const source = (task.metadata as Readonly<Record<string, unknown>> | null)?.["data_source"];
  return typeof source === "string" && source !== "" ? source : null;
}

/** `source/{source}/...` for each source that a task names. */
function sourceMetrics(episodes: readonly Episode[]): Metrics {
  const metrics: Metrics = {};
  for (const [source, own] of groupBy(episodes, dataSource)) {
    if (source === null) continue;
    const prefix = `source/${source}`;
    metrics[`${prefix}/tasks`] = new Set(own.map(({ task }) => task.id)).size;
    metrics[`${prefix}/failed`] = own.filter(isFailed).length;
    metrics[`${prefix}/sampled_tokens`] = sampledTokens(own);
    setIfDefined(metrics, `${prefix}/reward_mean`, meanOf(rewardsOf(own)));
    setIfDefined(metrics, `${prefix}/pass@1`, passRate(own));
  }
  return metrics;
}

/** Metrics of a step's rollouts. */
export function trainEpisodeMetrics(episodes: readonly Episode[]): Metrics {
  const metrics: Metrics = {};
  const rewards = rewardsOf(episodes);
  const average = meanOf(rewards);
  setIfDefined(metrics, "reward/mean", average);
  const variance = meanOf(rewards.map((reward) => (reward - (average ?? 0)) ** 2));
  setIfDefined(metrics, "reward/std", variance === undefined ? undefined : Math.sqrt(variance));
  setIfDefined(metrics, "rollout/pass@1", passRate(episodes));
  metrics["rollout/episodes"] = episodes.length;
  metrics["rollout/failed"] = episodes.filter(isFailed).length;
  metrics["rollout/canceled"] = episodes.filter(isCutOff).length;
  metrics["rollout/retries"] = episodes.reduce((sum, e) => sum + Math.max(0, e.attempts - 1), 0);
  for (const reason of new Set(episodes.map((episode) => episode.terminationReason))) {
    const ended = episodes.filter((episode) => episode.terminationReason === reason).length;
    metrics[`rollout/termination_fraction/${reason}`] = ended / episodes.length;
  }
  metrics["tokens/sampled"] = sampledTokens(episodes);
  return { ...metrics, ...sourceMetrics(episodes), ...ownMetrics(episodes, "") };
}
