/**
 * On-policy distillation: the advantage of a sampled token is coef (log p(teacher) - log p(policy)), the
 * negative of the reverse KL from one sample, as in Agarwal et al. 2023 (arXiv:2306.13649), MiniLLM
 * (arXiv:2306.08543) and TRL's IW-OPD without weights; or that of another divergence. With a discount g, A_i = a_i + g A_{i+1} within a
 * response; then A is limited to [-clip, clip].
 */
import type { TrainConfig } from "../../config/train-config.ts";
import { countTargets, targetPositions } from "../../core/loss/aggregation.ts";
import type { TrainingRow } from "../../core/loss/training-row.ts";
import type { Teacher } from "../../core/teacher.ts";
import { AgentTrainerError } from "../../core/errors.ts";
import { ratioOf } from "../../core/loss/log-ratio.ts";

export interface DistilledRows {
  readonly rows: readonly TrainingRow[];
  /** `distillation/...` */
  readonly metrics: Readonly<Record<string, number>>;
}

type DistillationOptions = Pick<
  TrainConfig["distillation"],
  "coef" | "discount" | "clip" | "useReward" | "divergence"
>;
type Shape = Pick<DistillationOptions, "coef" | "discount" | "clip" | "divergence">;

/**
 * The advantage whose policy gradient, averaged over the policy's tokens, is that of the negative divergence; d =
 * log p(teacher) - log p(policy). Each is 0 where both are the same.
 *
 * - reverse, KL(policy, teacher): d
 * - forward, KL(teacher, policy): exp(d) - 1
 */
export function divergenceAdvantage(d: number, divergence: Shape["divergence"]): number {
  return divergence === "forward" ? ratioOf(d) - 1 : d;
}

/** [response] advantages of the tokens of one response. */
export function teacherAdvantages(
  teacher: ArrayLike<number>,
  policy: ArrayLike<number>,
  { coef, discount, clip, divergence }: Shape,
): Float64Array {
  const advantages = new Float64Array(policy.length);
  let later = 0;
  for (let i = policy.length - 1; i >= 0; i--) {
    const own = divergenceAdvantage((teacher[i] as number) - (policy[i] as number), divergence);
    later = coef * own + discount * later;
    advantages[i] = later;
  }
  return clip === null ? advantages : advantages.map((a) => Math.max(-clip, Math.min(clip, a)));
}

/** Runs of consecutive positions: the responses of a row. */
function* responses(positions: Int32Array): Generator<Int32Array> {
  for (let start = 0; start < positions.length;) {
    let end = start + 1;
    while (end < positions.length && positions[end] === (positions[end - 1] as number) + 1) end++;
    yield positions.subarray(start, end);
    start = end;
  }
}

function distillRow(
  row: TrainingRow,
  teacher: ArrayLike<number>,
  name: string,
  options: DistillationOptions,
): { readonly row: TrainingRow; readonly kl: number; readonly clipped: number } {
  const positions = targetPositions(row);
  const advantages = options.useReward
    ? row.advantages.slice()
    : new Float32Array(row.tokens.length);
  let kl = 0;
  let clipped = 0;
  for (const span of responses(positions)) {
    const given = Float64Array.from(span, (at) => teacher[at] ?? Number.NaN);
    const policy = Float64Array.from(span, (at) => row.samplingLogprobs[at] as number);
    // A missing value counted as 0 would be a teacher that is certain.
    if (!given.every(Number.isFinite)) {
      throw new AgentTrainerError({
        code: "UPSTREAM_FAILED",
        message: `The teacher ${name} gave no finite log-probability for every token of a response.`,
        hint: "Its context may be shorter than the policy's, or its tokenizer another one.",
        fields: { teacher: name, tokens: row.tokens.length },
      });
    }
    const own = teacherAdvantages(given, policy, options);
    for (const [i, at] of span.entries()) {
      kl += (policy[i] as number) - (given[i] as number);
      if (options.clip !== null && Math.abs(own[i] as number) >= options.clip) clipped++;
      advantages[at] = (advantages[at] as number) + (own[i] as number);
    }
  }
  return { row: { ...row, advantages }, kl, clipped };
}

/** Rows with the teacher's advantages. */
export async function distillRows(
  rows: readonly TrainingRow[],
  teacher: Pick<Teacher, "name" | "logprobs">,
  options: DistillationOptions,
  signal: AbortSignal,
): Promise<DistilledRows> {
  const logprobs = rows.length === 0 ? [] : await teacher.logprobs(rows, signal);
  const distilled = rows.map((row, i) => distillRow(row, logprobs[i] ?? [], teacher.name, options));
  const tokens = Math.max(
    1,
    rows.reduce((sum, row) => sum + countTargets(row), 0),
  );
  const sum = (of: (one: (typeof distilled)[number]) => number): number =>
    distilled.reduce((total, one) => total + of(one), 0);
  return {
    rows: distilled.map(({ row }) => row),
    metrics: {
      "distillation/reverse_kl": sum(({ kl }) => kl) / tokens,
      ...(options.clip === null
        ? {}
        : { "distillation/clip_fraction": sum(({ clipped }) => clipped) / tokens }),
    },
  };
}
