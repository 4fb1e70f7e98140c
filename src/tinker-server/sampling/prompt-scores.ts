/** Scores of a prompt and of what was sampled after it that need all logits of a position. */
import { createRandom, deriveSeed } from "../../util/random.ts";
import type { TinkerSampleOutput, TopTokens } from "../../tinker-api/messages.ts";
import type { AdapterWeights } from "../model/adapter.ts";
import type { BaseModel } from "../model/base-model.ts";
import { mostLikely } from "../model/most-likely.ts";
import { RequestError } from "../request-error.ts";

/** Ids, row i for position i + 1 of the prompt; -1 asks for nothing. */
export interface PromptTargets {
  readonly ids: readonly number[];
  /** [prompt - 1, K] */
  readonly shape: readonly number[];
  /** Of a sparse matrix, [prompt]. */
  readonly rowStarts?: readonly number[];
  readonly columns?: readonly number[];
}

/** What a job asks for, as far as scores go. */
export interface ScoredJob {
  readonly prompt: Int32Array;
  readonly samples: number;
  readonly maxTokens: number | null;
  readonly temperature: number;
  readonly seed: number | null;
  /** Most likely tokens at each sampled one; 0: none. @default 0 */
  readonly topSampleTokens?: number;
  /** Other tokens to sample at each position of the prompt; 0: none. @default 0 */
  readonly promptAltTokens?: number;
  /** Ids to score at each position of the prompt. @default none */
  readonly promptTargets?: PromptTargets | null;
}

/** Numbers of one response. */
const maxScores = 2 ** 24;

/** @throws RequestError 400 for targets that do not fit the prompt, and for a response that is too large. */
export function checkScores(job: ScoredJob, vocabularySize: number): void {
  const { prompt, promptTargets = null, promptAltTokens: k = 0, topSampleTokens: top = 0 } = job;
  const scores = [
    ["prompt_alt_tokens_k", k * prompt.length],
    ["topk_sample_logprobs", top * job.samples * (job.maxTokens ?? 1)],
    ["topk_sample_logprobs", top > vocabularySize ? Infinity : 0],
  ] as const;
  for (const [name, count] of scores)
    if (count > maxScores)
      throw new RequestError(400, `${name} asks for more than ${maxScores} numbers. Ask for less.`);
  if (promptTargets === null) return;
  const { ids, shape, rowStarts, columns } = promptTargets;
  const refuse = (why: string): never => {
    throw new RequestError(400, `target_prompt_logprobs: ${why}`);
  };
  const [rows, width = 0] = shape;
  if (shape.length !== 2 || rows !== prompt.length - 1)
    refuse(`its shape is [${shape.join()}], but must be [${prompt.length - 1}, K].`);
  const stray = ids.find((id) => id >= vocabularySize);
  if (stray !== undefined)
    refuse(`token ${stray} is outside of the vocabulary of ${vocabularySize}.`);
  if (rowStarts === undefined || columns === undefined) {
    if (ids.length !== (prompt.length - 1) * width) refuse(`it has ${ids.length} ids.`);
    return;
  }
  const isFitting =
    rowStarts.length === prompt.length &&
    rowStarts[0] === 0 &&
    rowStarts.at(-1) === ids.length &&
    rowStarts.every((start, i) => start >= (rowStarts[i - 1] ?? 0)) &&
    columns.length === ids.length &&
    columns.every((column) => column < width);
  if (!isFitting) refuse("its sparse indices do not fit its shape.");
}

/** What was asked for of `target_prompt_logprobs` and `prompt_alt_tokens_k`. */
export async function promptScores(
  base: BaseModel,
  weights: AdapterWeights,
  job: ScoredJob,
): Promise<Pick<TinkerSampleOutput, "targetPromptLogprobs" | "promptAltTokens">> {
  const { prompt, promptTargets: targets = null, promptAltTokens: k = 0 } = job;
  if (targets === null && k === 0) return {};
  const rows = prompt.length - 1;
  const scores = new Float32Array(targets?.ids.length ?? 0);
  const others = new Int32Array(rows * k);
  const logprobs = new Float32Array(rows * k);
  const random = createRandom(
    deriveSeed(job.seed ?? Math.floor(Math.random() * 2 ** 32), "others"),
  );
  await base.readPrompt(weights, prompt, (row, values) => {
    const [from, to] = targets === null ? [0, 0] : rowOf(targets, row);
    for (let i = from; i < to; i++) {
      const id = targets!.ids[i]!;
      if (id >= 0) scores[i] = values[id]!;
    }
    if (k === 0) return;
    const sampleId = samplerOf(values, job.temperature, random);
    for (let j = 0; j < k; j++) {
      const id = sampleId();
      others[row * k + j] = id;
      logprobs[row * k + j] = values[id]!;
    }
  });
  const { shape = [], rowStarts, columns } = targets ?? {};
  const sparse = rowStarts === undefined || columns === undefined ? {} : { rowStarts, columns };
  return {
    ...(targets === null
      ? {}
      : { targetPromptLogprobs: { dtype: "float32", data: scores, shape, ...sparse } as const }),
    ...(k === 0
      ? {}
      : {
          promptAltTokens: {
            tokens: { dtype: "int64", data: others, shape: [rows, k] },
            logprobs: { dtype: "float32", data: logprobs, shape: [rows, k] },
          } as const,
        }),
  };
}

function rowOf({ shape, rowStarts }: PromptTargets, row: number): readonly [number, number] {
  if (rowStarts !== undefined) return [rowStarts[row]!, rowStarts[row + 1]!];
  const width = shape[1] ?? 0;
  return [row * width, (row + 1) * width];
}

/** Samples ids from log-probabilities at a temperature; at 0 always the most likely one. */
function samplerOf(
  logprobs: Float32Array,
  temperature: number,
  random: () => number,
): () => number {
  if (temperature === 0) {
    const [[best]] = mostLikely(logprobs, 1) as [[number, number]];
    return () => best;
  }
  const max = logprobs.reduce((most, value) => Math.max(most, value), -Infinity);
  let total = 0;
  const sums = Float64Array.from(
    logprobs,
    (value) => (total += Math.exp((value - max) / temperature)),
  );
  return () => {
    const at = random() * total;
    let [low, high] = [0, sums.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sums[middle]! > at) high = middle;
      else low = middle + 1;
    }
    return low;
  };
}

/** [sampled] most likely tokens at each sampled one. */
export async function topSampleTokensOf(
  base: BaseModel,
  weights: AdapterWeights,
  prompt: Int32Array,
  tokens: Int32Array,
  k: number,
): Promise<TopTokens[]> {
  const whole = new Int32Array(prompt.length + tokens.length);
  whole.set(prompt);
  whole.set(tokens, prompt.length);
  const top: TopTokens[] = [];
  await base.readPrompt(weights, whole, (row, values) => {
    if (row >= prompt.length - 1) top.push(mostLikely(values, k));
  });
  return top;
}

/** One after the other, since each takes the whole model. */
export async function inTurn<T, U>(
  items: readonly T[],
  work: (item: T) => Promise<U>,
): Promise<U[]> {
  const results: U[] = [];
  // oxlint-disable-next-line no-await-in-loop
  for (const item of items) results.push(await work(item));
  return results;
}
