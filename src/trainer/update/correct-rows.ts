/**
 * Rollout correction on rows: requests the trainer's own log-probabilities and turns them into
 * weights, rejections and the base of the loss's ratios.
 *
 * Decoupled (any type but `none`): `samplingLogprobs` becomes the trainer's, so that the loss clips
 * how far an update moves, while `weights` carry how far the sampler was away. With `none` the loss's
 * ratio is to the sampler, and covers both. Rows that lack sampling log-probabilities get the
 * trainer's in either case: how far their sampler was away is unknown, and counts as no difference.
 */
import {
  importanceWeights,
  parseWeightLimit,
} from "../../algorithms/rollout-correction/importance-weights.ts";
import type { TokenValues } from "../../algorithms/rollout-correction/log-ratios.ts";
import { offPolicyMetrics } from "../../algorithms/rollout-correction/off-policy-metrics.ts";
import {
  parseRejection,
  reject,
  type Rejection,
  type RejectionRule,
} from "../../algorithms/rollout-correction/rejection.ts";
import { targetPositions } from "../../core/loss/aggregation.ts";
import type { TrainingRow } from "../../core/loss/training-row.ts";
import type { RolloutCorrectionOptions } from "../../config/train-config.ts";
import { defined } from "../../util/defined.ts";

/** [row][length] log-probabilities of the rows' tokens under the weights that train. */
export type Forward = (rows: readonly TrainingRow[]) => Promise<readonly Float32Array[]>;

export interface CorrectedRows {
  /** Rows of which every token was rejected are dropped. */
  readonly rows: readonly TrainingRow[];
  /** `off_policy/...` and `rollout_correction/...`; empty when nothing is corrected. */
  readonly metrics: Readonly<Record<string, number>>;
}

/** Whether ratios are relative to the trainer's own weights at the start of the step. */
export function isDecoupled({ type }: RolloutCorrectionOptions): boolean {
  return type !== "none";
}

function rulesOf({ reject: listed }: RolloutCorrectionOptions): readonly RejectionRule[] {
  const parsed = parseRejection(listed);
  return typeof parsed === "string" ? [] : parsed;
}

export async function correctRows(
  rows: readonly TrainingRow[],
  forward: Forward,
  options: RolloutCorrectionOptions,
): Promise<CorrectedRows> {
  const rules = rulesOf(options);
  const { rolloutTokenVetoThreshold: veto } = options;
  const isRejecting = rules.length > 0 || veto !== null;
  const isCorrecting = isDecoupled(options) || isRejecting;
  const scored = isCorrecting ? rows : rows.filter(lacks);
  if (scored.length === 0) return { rows, metrics: {} };

  const found = await forward(scored);
  const trained = new Map(scored.map((row, i) => [row, found[i] as Float32Array]));
  if (!isCorrecting) return { rows: rows.map((row) => filled(row, trained.get(row))), metrics: {} };
  const positions = rows.map(targetPositions);
  const old = positions.map((at, r) => pick(trained.get(rows[r] as TrainingRow), at));
  const rollout = positions.map((at, r) => {
    const row = rows[r] as TrainingRow;
    return pick(lacks(row) ? trained.get(row) : row.samplingLogprobs, at);
  });
  const isKnown = (_: unknown, r: number): boolean => !lacks(rows[r] as TrainingRow);
  const logRatios = old.map((row, r) => row.map((o, i) => o - (rollout[r]?.[i] as number)));
  const rejection = isRejecting ? reject(logRatios, rules, veto) : null;
  const weighed = weigh(logRatios, options);
  const corrected = rows.map((row, r) =>
    correctRow(filled(row, trained.get(row)), positions[r] as Int32Array, {
      old: isDecoupled(options) ? (old[r] as Float64Array) : null,
      weights: weighed?.weights[r] ?? null,
      kept: rejection?.kept[r] ?? null,
    }),
  );
  return {
    rows: isRejecting ? corrected.filter(({ targetMask }) => targetMask.includes(1)) : corrected,
    metrics: {
      ...offPolicyMetrics(old.filter(isKnown), rollout.filter(isKnown)),
      ...weighed?.metrics,
      ...rejection?.metrics,
    },
  };
}

function lacks({ lacksSamplingLogprobs = false }: TrainingRow): boolean {
  return lacksSamplingLogprobs;
}

/** The row with the trainer's log-probabilities if its own are those at another temperature. */
function filled(row: TrainingRow, trained: Float32Array | undefined): TrainingRow {
  if (!lacks(row) || trained === undefined) return row;
  const { lacksSamplingLogprobs: _, ...rest } = row;
  return { ...rest, samplingLogprobs: trained };
}

function weigh(
  logRatios: TokenValues,
  options: RolloutCorrectionOptions,
): ReturnType<typeof importanceWeights> | null {
  if (!("cap" in options)) return null;
  const limit = parseWeightLimit(options.cap);
  if (limit === null) return null;
  return importanceWeights(logRatios, {
    mode: options.type,
    limit,
    normalize: options.batchNormalize,
  });
}

function pick(values: Float32Array | undefined, positions: Int32Array): Float64Array {
  return Float64Array.from(positions, (position) => values?.[position] as number);
}

interface RowCorrection {
  readonly old: Float64Array | null;
  readonly weights: Float64Array | null;
  readonly kept: Rejection["kept"][number] | null;
}

function correctRow(
  row: TrainingRow,
  positions: Int32Array,
  { old, weights, kept }: RowCorrection,
): TrainingRow {
  const targetMask = row.targetMask.slice();
  const samplingLogprobs = row.samplingLogprobs.slice();
  const advantages = row.advantages.slice();
  const factors = weights === null ? row.weights : Float32Array.from(row.weights ?? row.targetMask);
  for (const [i, at] of positions.entries()) {
    if (kept !== null && kept[i] === 0) {
      targetMask[at] = 0;
      samplingLogprobs[at] = 0;
      advantages[at] = 0;
      continue;
    }
    if (old !== null) samplingLogprobs[at] = old[i] as number;
    if (weights !== null && factors !== undefined)
      factors[at] = (factors[at] as number) * (weights[i] as number);
  }
  return {
    ...row,
    targetMask,
    samplingLogprobs,
    advantages,
    ...defined({ weights: factors }),
  };
}
