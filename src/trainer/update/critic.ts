/**
 * Advantages from a critic's values, where the estimator is `gae`. A trajectory is one sequence of sampled
 * tokens, in the order in which they were sampled, also where it is several rows; its rewards are at the last
 * token of the response that earned them.
 */
import { estimateGae, explainedVariance, whitened } from "../../algorithms/gae.ts";
import { concatenated, summarize } from "../../algorithms/statistics.ts";
import { stepRewards } from "../../algorithms/stepwise.ts";
import type { TrainConfig } from "../../config/train-config.ts";
import type { BackendCapabilities } from "../../core/backend.ts";
import type { TrainingRow } from "../../core/loss/training-row.ts";
import type { CriticSpec } from "../../core/loss/value-loss.ts";
import type { GroupMember, TrajectoryGroup } from "../../core/trajectory.ts";
import { addTo } from "../../util/group-by.ts";
import { isPerStep, usesCritic } from "./shape-rewards.ts";

/** How the critic learns in step `step`, from 1; null where there is none. */
export function criticOf(
  { algorithm }: TrainConfig,
  { valueModel }: Pick<BackendCapabilities, "valueModel">,
  step: number,
): CriticSpec | null {
  const { estimator } = algorithm;
  // A backend without one was refused at the start.
  if (estimator.type !== "gae" || valueModel === undefined) return null;
  return {
    learningRate: estimator.valueLearningRate ?? valueModel.learningRate,
    clip: estimator.valueClip,
    epochs: estimator.valueEpochs ?? valueModel.epochs,
    isWarmup: step <= estimator.criticWarmup,
  };
}

interface Span {
  readonly row: TrainingRow;
  readonly start: number;
  readonly end: number;
}

/** A trajectory's sampled tokens that are in rows. */
interface Sequence {
  readonly role: string;
  readonly places: readonly { readonly row: TrainingRow; readonly position: number }[];
  readonly rewards: Float64Array;
}

const keyOf = (episodeId: string, uid: string, traceId: string): string =>
  JSON.stringify([episodeId, uid, traceId]);

/** What was sampled in each call; one that several versions of the weights sampled is one. */
function spansOf(rows: readonly TrainingRow[]): ReadonlyMap<string, Span[]> {
  const spans = new Map<string, Span[]>();
  for (const row of rows) {
    const { episodeId, trajectoryUid } = row.provenance;
    for (const { kind, traceId, start, end } of row.segments) {
      if (kind === "response")
        addTo(spans, keyOf(episodeId, trajectoryUid, traceId), { row, start, end });
    }
  }
  return spans;
}

export interface CriticInput {
  readonly rows: readonly TrainingRow[];
  /** Of which rows were made. */
  readonly groups: readonly TrajectoryGroup[];
  /** [token] what is subtracted from its reward, by the tokens of a row. */
  readonly penalties: ReadonlyMap<Int32Array, Float64Array>;
}

function sequenceOf(
  config: TrainConfig,
  { name, member }: { readonly name: string; readonly member: GroupMember },
  spans: ReadonlyMap<string, readonly Span[]>,
  penalties: CriticInput["penalties"],
): Sequence {
  const { trajectory, episode, reward, stepShaping } = member;
  const { steps } = trajectory;
  const ofSteps = isPerStep(config)
    ? stepRewards(trajectory, reward, stepShaping)
    : Float64Array.from(steps, (_, k) => (k === steps.length - 1 ? reward : 0));
  const places: { row: TrainingRow; position: number }[] = [];
  const rewards: number[] = [];
  for (const [k, { trace }] of steps.entries()) {
    for (const { row, start, end } of spans.get(keyOf(episode.id, trajectory.uid, trace.id)) ??
      []) {
      for (let position = start; position < end; position++) {
        places.push({ row, position });
        rewards.push(-(penalties.get(row.tokens)?.[position] ?? 0));
      }
    }
    // What a response earned that cannot be trained on, the one before it has led to.
    if (rewards.length > 0) rewards[rewards.length - 1]! += ofSteps[k]!;
  }
  return { role: name, places, rewards: Float64Array.from(rewards) };
}

/**
 * Rows of roles that use the critic, with their advantages, values and returns; others as they are.
 * @param valuesOf [row][length] what the critic gives
 */
export async function estimateWithCritic(
  config: TrainConfig,
  { rows, groups, penalties }: CriticInput,
  valuesOf: (rows: readonly TrainingRow[]) => Promise<readonly Float32Array[]>,
): Promise<{ readonly rows: readonly TrainingRow[]; readonly metrics: Record<string, number> }> {
  const { estimator } = config.algorithm;
  const own = groups.filter(({ name }) => usesCritic(config, name));
  const spans = spansOf(rows);
  const sequences = own
    .flatMap(({ name, members }) => members.map((member) => ({ name, member })))
    .map((one) => sequenceOf(config, one, spans, penalties))
    .filter(({ places }) => places.length > 0);
  if (estimator.type !== "gae" || sequences.length === 0) return { rows, metrics: {} };

  const valued = [...new Set(sequences.flatMap(({ places }) => places.map(({ row }) => row)))];
  const found = await valuesOf(valued);
  const columns = new Map(
    valued.map((row, r) => {
      const empty = (): Float32Array => new Float32Array(row.tokens.length);
      return [row, { values: found[r]!, advantages: empty(), returns: empty() }];
    }),
  );
  const values = sequences.map(({ places }) =>
    Float64Array.from(places, ({ row, position }) => columns.get(row)!.values[position]!),
  );
  const { gamma, lambda } = estimator;
  const estimated = sequences.map(({ rewards }, s) =>
    estimateGae(rewards, values[s]!, { gamma, lambda }),
  );
  const metrics: Record<string, number> = {};
  for (const role of new Set(sequences.map((sequence) => sequence.role))) {
    const indices = [...sequences.keys()].filter((s) => sequences[s]!.role === role);
    const raw = indices.map((s) => estimated[s]!.advantages);
    const advantages = estimator.whiten ? whitened(raw) : raw;
    Object.assign(metrics, advantageMetrics(role, concatenated(advantages)));
    for (const [i, s] of indices.entries()) {
      for (const [t, { row, position }] of sequences[s]!.places.entries()) {
        columns.get(row)!.advantages[position] = advantages[i]![t]!;
        columns.get(row)!.returns[position] = estimated[s]!.returns[t]!;
      }
    }
  }
  const returns = estimated.map((one) => one.returns);
  const explained = explainedVariance(returns, values);
  return {
    rows: rows.map((row) => ({ ...row, ...columns.get(row) })),
    metrics: {
      ...metrics,
      ...summarize("critic/values", concatenated(values)),
      ...summarize("critic/returns", concatenated(returns)),
      ...(explained === null ? {} : { "critic/explained_variance": explained }),
    },
  };
}

/** Of the tokens of a role, where other estimators have those of its rollouts. */
function advantageMetrics(role: string, values: Float64Array): Record<string, number> {
  const zeros = values.reduce((count, value) => count + (Math.abs(value) < 1e-8 ? 1 : 0), 0);
  return {
    ...summarize(`advantage/${role}`, values),
    [`advantage/${role}/zero_fraction`]: zeros / values.length,
  };
}
