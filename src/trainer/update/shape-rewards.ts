/** Adds the configured bonuses and penalties to the rewards of groups, before advantages. */
import { overlongPenalty } from "../../algorithms/overlong.ts";
import { maxResponseBytes, withRewards, withStepShaping } from "../../algorithms/reward-shaping.ts";
import { klPenalty } from "../../algorithms/kl-in-reward.ts";
import { buildRows } from "../../algorithms/rows.ts";
import type { LogprobTemperature } from "../../algorithms/step-logprobs.ts";
import { mean } from "../../algorithms/statistics.ts";
import type { TrainingRow } from "../../core/training-row.ts";
import type { GroupMember, TrajectoryGroup } from "../../core/trajectory.ts";
import type { TrainConfig } from "../../config/train-config.ts";
import type { StepGroups } from "./step-groups.ts";

/** Whether steps are compared, so that each has its own reward. */
export function isPerStep({ stepwiseAdvantage }: TrainConfig): boolean {
  return stepwiseAdvantage.enable && stepwiseAdvantage.mode === "per_step";
}

/** Soft overlong penalty, if enabled: for the longest response, or with per-step advantages for each. */
export function shapeOverlong(config: TrainConfig, groups: readonly TrajectoryGroup[]): StepGroups {
  const { algorithm, rollout } = config;
  const { enable, len: margin, penaltyFactor: factor, maxLength } = algorithm.overlongBuffer;
  if (!enable) return { groups, metrics: {} };
  const options = { maxLength: maxLength ?? rollout.train.maxTokens, margin, factor };
  const penalties: number[] = [];
  const penaltyOf = (length: number): number => {
    const penalty = overlongPenalty(length, options);
    penalties.push(penalty);
    return penalty;
  };
  const shaped = isPerStep(config)
    ? withStepShaping(groups, ({ trajectory }) =>
        trajectory.steps.map(({ responseIds }) => penaltyOf(responseIds.length)),
      )
    : withRewards(groups, (member) => member.reward + penaltyOf(maxResponseBytes(member)));
  return {
    groups: shaped,
    metrics: {
      "shaping/overlong_penalty": mean(penalties),
      "shaping/overlong_share": mean(penalties.map((penalty) => (penalty < 0 ? 1 : 0))),
    },
  };
}

/** Requests log-probabilities of rows' tokens. */
export type Score = (
  rows: readonly TrainingRow[],
  which: "current" | "reference",
) => Promise<readonly Float32Array[]>;

/** One call of a trajectory; unique even if names repeat. */
const keyOf = (episodeId: string, uid: string, traceId: string): string =>
  JSON.stringify([episodeId, uid, traceId]);

/**
 * Subtracts the KL divergence to the reference from each reward, or with per-step advantages from
 * each step's.
 */
export async function shapeByKl(
  config: TrainConfig,
  { groups, metrics }: StepGroups,
  score: Score,
  logprobTemperature: LogprobTemperature,
): Promise<StepGroups> {
  const { algorithm } = config;
  if (!algorithm.useKlInReward || groups.length === 0) return { groups, metrics };
  const nothing = groups.map(({ members }) => new Float64Array(members.length));
  const { rows } = buildRows(groups, nothing, { logprobTemperature });
  const policy = await score(rows, "current");
  const reference = await score(rows, "reference");
  const penalty = klPenalty(rows, policy, reference, algorithm.klPenalty);
  const { klCoef } = algorithm.klCtrl;
  const sums = new Map<string, number>();
  for (const [r, { provenance, segments }] of rows.entries()) {
    for (const { kind, start, end, traceId } of segments) {
      if (kind === "prompt") continue;
      const key = keyOf(provenance.episodeId, provenance.trajectoryUid, traceId);
      let sum = sums.get(key) ?? 0;
      for (let at = start; at < end; at++) sum += penalty.estimates[r]?.[at] ?? 0;
      sums.set(key, sum);
    }
  }
  const ofSteps = ({ episode, trajectory }: GroupMember): number[] =>
    trajectory.steps.map(
      ({ traceId }) => -klCoef * (sums.get(keyOf(episode.id, trajectory.uid, traceId)) ?? 0),
    );
  const ofAll = (member: GroupMember): number =>
    ofSteps(member).reduce((sum, value) => sum + value, 0);
  return {
    groups: isPerStep(config)
      ? withStepShaping(groups, ofSteps)
      : withRewards(groups, (member) => member.reward + ofAll(member)),
    metrics: {
      ...metrics,
      "shaping/reward_kl_penalty": penalty.mean,
      "shaping/reward_kl_penalty_coeff": klCoef,
    },
  };
}
