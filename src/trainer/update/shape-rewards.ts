/** Adds the configured bonuses and penalties to the rewards of groups, before advantages. */
import {
  klPenalty,
  maxResponseLength,
  overlongPenalty,
  withRewards,
  withStepShaping,
} from "../../algorithms/reward-shaping.ts";
import { buildRows, type RowsOptions } from "../../algorithms/rows/rows.ts";
import { mean } from "../../algorithms/statistics.ts";
import type { WhichWeights } from "../../core/backend.ts";
import type { TrainingRow } from "../../core/loss/training-row.ts";
import type { GroupMember, TrajectoryGroup } from "../../core/trajectory.ts";
import type { TrainConfig } from "../../config/train-config.ts";

/** The groups of a step, and what was counted while building them. */
export interface StepGroups {
  readonly groups: readonly TrajectoryGroup[];
  /** [token] what a critic's estimates subtract from the reward of each token, by the tokens of its row. */
  readonly tokenPenalties: ReadonlyMap<Int32Array, Float64Array>;
  readonly metrics: Readonly<Record<string, number>>;
}

/** Whether a role's advantages come from the critic, which gives each token a value. */
export const usesCritic = ({ algorithm }: TrainConfig, role: string): boolean =>
  algorithm.estimator.type === "gae" && algorithm.estimatorByRole.every((one) => one.role !== role);

/** Whether steps are compared, so that each has its own reward. */
export function isPerStep({ stepwiseAdvantage }: TrainConfig): boolean {
  return stepwiseAdvantage.enable && stepwiseAdvantage.mode === "per_step";
}

/** Soft overlong penalty, if enabled: for the longest response, or with per-step advantages for each. */
export function shapeOverlong(config: TrainConfig, groups: readonly TrajectoryGroup[]): StepGroups {
  const { algorithm, rollout } = config;
  const { enable, len: margin, penaltyFactor: factor, maxLength } = algorithm.overlongBuffer;
  const tokenPenalties = new Map<Int32Array, Float64Array>();
  if (!enable) return { groups, tokenPenalties, metrics: {} };
  const options = { maxLength: maxLength ?? rollout.train.maxTokens, margin, factor };
  const penalties: number[] = [];
  const penaltyOf = (length: number): number => {
    const penalty = overlongPenalty(length, options);
    penalties.push(penalty);
    return penalty;
  };
  const shaped = isPerStep(config)
    ? withStepShaping(groups, ({ trajectory }) =>
        trajectory.steps.map(({ trace }) => penaltyOf(trace.responseIds.length)),
      )
    : withRewards(groups, (member) => member.reward + penaltyOf(maxResponseLength(member)));
  return {
    groups: shaped,
    tokenPenalties,
    metrics: {
      "shaping/overlong_penalty": mean(penalties),
      "shaping/overlong_fraction": mean(penalties.map((penalty) => (penalty < 0 ? 1 : 0))),
    },
  };
}

/** Requests log-probabilities of rows' tokens. */
export type Score = (
  rows: readonly TrainingRow[],
  which: WhichWeights,
) => Promise<readonly Float32Array[]>;

/** One call of a trajectory; unique even if names repeat. */
const keyOf = (episodeId: string, uid: string, traceId: string): string =>
  JSON.stringify([episodeId, uid, traceId]);

/**
 * Subtracts the KL divergence to the reference from each reward, or with per-step advantages from
 * each step's, or where a critic gives each token a value, from each token's.
 */
export async function shapeByKl(
  config: TrainConfig,
  { groups, metrics, tokenPenalties }: StepGroups,
  score: Score,
  options: RowsOptions,
): Promise<StepGroups> {
  const { algorithm } = config;
  if (!algorithm.useKlInReward || groups.length === 0) return { groups, tokenPenalties, metrics };
  const nothing = groups.map(({ members }) => new Float64Array(members.length));
  const { rows } = buildRows(groups, nothing, options);
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
      ({ trace }) => -klCoef * (sums.get(keyOf(episode.id, trajectory.uid, trace.id)) ?? 0),
    );
  const ofAll = (member: GroupMember): number =>
    ofSteps(member).reduce((sum, value) => sum + value, 0);
  const shaped = (one: TrajectoryGroup): readonly TrajectoryGroup[] => {
    if (usesCritic(config, one.name)) return [one];
    return isPerStep(config)
      ? withStepShaping([one], ofSteps)
      : withRewards([one], (member) => member.reward + ofAll(member));
  };
  return {
    groups: groups.flatMap(shaped),
    tokenPenalties: new Map(
      rows.map(({ tokens }, r) => [tokens, penalty.estimates[r]!.map((kl) => klCoef * kl)]),
    ),
    metrics: {
      ...metrics,
      "shaping/reward_kl_penalty": penalty.mean,
      "shaping/reward_kl_penalty_coeff": klCoef,
    },
  };
}
