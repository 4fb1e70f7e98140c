/** What options add to and take off the rewards of groups before advantages. */
import { overlongPenalty } from "../algorithms/overlong.ts";
import { longestAnswer, withRewards } from "../algorithms/reward-shaping.ts";
import { klPenalty } from "../algorithms/kl-in-reward.ts";
import { buildRows } from "../algorithms/rows.ts";
import type { LogprobTemperature } from "../algorithms/step-logprobs.ts";
import { mean } from "../algorithms/statistics.ts";
import type { TrainingRow } from "../core/training-row.ts";
import type { GroupMember, TrajectoryGroup } from "../core/trajectory.ts";
import type { TrainConfig } from "./config/train-config.ts";
import type { StepGroups } from "./step-groups.ts";

/** Soft punishment of long answers, where it is on. */
export function shapeOverlong(
  { algorithm, rollout }: TrainConfig,
  groups: readonly TrajectoryGroup[],
): StepGroups {
  const { enable, len: margin, penaltyFactor: factor, maxLength } = algorithm.overlongBuffer;
  if (!enable) return { groups, metrics: {} };
  const options = { maxLength: maxLength ?? rollout.train.maxTokens, margin, factor };
  const penalties: number[] = [];
  const shaped = withRewards(groups, (member) => {
    const penalty = overlongPenalty(longestAnswer(member), options);
    penalties.push(penalty);
    return member.reward + penalty;
  });
  return {
    groups: shaped,
    metrics: {
      "shaping/overlong_penalty": mean(penalties),
      "shaping/overlong_share": mean(penalties.map((penalty) => (penalty < 0 ? 1 : 0))),
    },
  };
}

/** Asks for log-probabilities of rows' tokens. */
export type Score = (
  rows: readonly TrainingRow[],
  which: "current" | "reference",
) => Promise<readonly Float32Array[]>;

/** One row's trajectory, whatever else is called so. */
const keyOf = (episodeId: string, uid: string): string => JSON.stringify([episodeId, uid]);

/** The distance to the reference, taken off each reward. */
export async function shapeByKl(
  { algorithm }: TrainConfig,
  { groups, metrics }: StepGroups,
  score: Score,
  logprobTemperature: LogprobTemperature,
): Promise<StepGroups> {
  if (!algorithm.useKlInReward || groups.length === 0) return { groups, metrics };
  const nothing = groups.map(({ members }) => new Float64Array(members.length));
  const { rows } = buildRows(groups, nothing, { logprobTemperature });
  const policy = await score(rows, "current");
  const reference = await score(rows, "reference");
  const penalty = klPenalty(rows, policy, reference, algorithm.klPenalty);
  const { klCoef } = algorithm.klCtrl;
  const sums = new Map<string, number>();
  for (const [r, { provenance }] of rows.entries()) {
    const key = keyOf(provenance.episodeId, provenance.trajectoryUid);
    sums.set(key, (sums.get(key) ?? 0) + (penalty.sums[r] ?? 0));
  }
  const sumOf = ({ episode, trajectory }: GroupMember): number =>
    sums.get(keyOf(episode.id, trajectory.uid)) ?? 0;
  return {
    groups: withRewards(groups, (member) => member.reward - klCoef * sumOf(member)),
    metrics: {
      ...metrics,
      "shaping/reward_kl_penalty": penalty.mean,
      "shaping/reward_kl_penalty_coeff": klCoef,
    },
  };
}
