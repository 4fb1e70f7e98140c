/** A sampling request carried out: stops, seeds, several samples, scores of the prompt. */
import { randomInt } from "node:crypto";
import type { Renderer, Sample, SamplingParams } from "../../core/policy.ts";
import type { TinkerSample, TinkerSampleOutput } from "../../tinker-api/messages.ts";
import { deriveSeed } from "../../util/random.ts";
import type { AdapterWeights } from "../model/adapter.ts";
import type { BaseModel } from "../model/base-model.ts";
import { RequestError } from "../request-error.ts";
import {
  checkScores,
  inTurn,
  promptScores,
  type ScoredJob,
  topSampleTokensOf,
} from "./prompt-scores.ts";

export interface SamplingJob extends ScoredJob {
  readonly topP: number;
  /** 0: off. */
  readonly topK: number;
  /** null: the model's own end; empty: nothing ends it but the limit. */
  readonly stop: readonly number[] | readonly string[] | null;
  readonly promptLogprobs: boolean;
  /** Score only the last so many tokens; null: all. */
  readonly promptLogprobsLast: number | null;
  readonly topPromptTokens: number;
}

/** A sequence with the probabilities of both distributions. */
export interface SampledSequence extends TinkerSample {
  /** At temperature 1, whatever the temperature was that `logprobs` are of. */
  readonly rawLogprobs: Float32Array;
}

export interface SamplingOutput extends TinkerSampleOutput {
  readonly sequences: readonly SampledSequence[];
}

export interface SamplingContext {
  readonly base: BaseModel;
  readonly renderer: Renderer;
  /** Tokens that end a sequence when the request names none. */
  readonly endTokens: readonly number[];
}

/** @throws RequestError 400 for a job that this model cannot do. */
export function checkJob({ base }: SamplingContext, job: SamplingJob): void {
  const { contextLength, vocabularySize } = base.limits;
  const { length } = job.prompt;
  if (length === 0) throw new RequestError(400, "The prompt is empty.");
  const stray = job.prompt.find((id) => id < 0 || id >= vocabularySize);
  if (stray !== undefined)
    throw new RequestError(
      400,
      `Token ${stray} is outside of the vocabulary of ${vocabularySize}.`,
    );
  const wanted = job.maxTokens ?? 1;
  if (wanted < 1) throw new RequestError(400, `max_tokens is ${wanted}, but must be at least 1.`);
  checkScores(job, vocabularySize);
  if (length + wanted > contextLength)
    throw new RequestError(
      400,
      `Prompt length plus max_tokens exceeds the model's context window: ${length} + ${wanted} > ${contextLength}.`,
    );
}

export async function runJob(
  context: SamplingContext,
  weights: AdapterWeights,
  job: SamplingJob,
  signal: AbortSignal,
): Promise<SamplingOutput> {
  const { base } = context;
  const sequences = await sampleSequences(context, weights, job, signal);
  const wantsScores = job.promptLogprobs || job.topPromptTokens > 0;
  const scores = wantsScores ? await base.scorePrompt(weights, job.prompt) : null;
  const top =
    job.topPromptTokens > 0
      ? await base.topPromptTokens(weights, job.prompt, job.topPromptTokens)
      : null;
  const { topSampleTokens = 0 } = job;
  const withTop =
    topSampleTokens === 0
      ? sequences
      : await inTurn(sequences, async (sequence) => ({
          ...sequence,
          topTokens: await topSampleTokensOf(
            base,
            weights,
            job.prompt,
            sequence.tokens,
            topSampleTokens,
          ),
        }));
  const first = job.promptLogprobsLast === null ? 0 : job.prompt.length - job.promptLogprobsLast;
  scores?.fill(Number.NaN, 0, Math.max(0, first));
  return {
    sequences: withTop,
    ...(await promptScores(base, weights, job)),
    promptLogprobs: job.promptLogprobs ? scores : null,
    topPromptTokens: top === null ? null : top.map((row, i) => (i < first ? null : row)),
    cacheHitTokens: 0,
  };
}

async function sampleSequences(
  { base, renderer, endTokens }: SamplingContext,
  weights: AdapterWeights,
  job: SamplingJob,
  signal: AbortSignal,
): Promise<SampledSequence[]> {
  const { prompt, stop } = job;
  const strings = (stop ?? []).filter((one) => typeof one === "string");
  const seed = job.seed ?? randomInt(2 ** 32);
  const params: SamplingParams = {
    temperature: job.temperature,
    topP: job.topP,
    topK: job.topK,
    minP: 0,
    maxTokens: job.maxTokens ?? base.limits.contextLength - prompt.length,
    stopTokenIds: stop === null ? endTokens : stop.filter((one) => typeof one === "number"),
    // Larger seeds are legal; what counts is that equal ones give equal tokens.
    seed: seed < 2 ** 32 ? seed : deriveSeed(0, seed),
  };
  if (strings.length === 0) {
    const samples = await base.sample(weights, { tokens: prompt, params, n: job.samples, signal });
    return samples.map(toSequence);
  }
  return Promise.all(
    Array.from({ length: job.samples }, (_, index) =>
      sampleUntil(
        { base, renderer, weights, strings, signal },
        { ...params, seed: deriveSeed(params.seed, index) },
        prompt,
      ),
    ),
  );
}

/** Log-probabilities are those of the distribution that sampled, before top-p and top-k. */
function toSequence({
  tokens,
  logprobs,
  temperedLogprobs = logprobs,
  stopReason,
}: Sample): SampledSequence {
  return {
    rawLogprobs: logprobs,
    tokens,
    logprobs: temperedLogprobs,
    stopReason: stopReason === "stop" ? "stop" : "length",
  };
}

interface UntilText {
  readonly base: BaseModel;
  readonly renderer: Renderer;
  readonly weights: AdapterWeights;
  readonly strings: readonly string[];
  readonly signal: AbortSignal;
}

/** Samples until the text holds one of the strings; the token that completes it is the last. */
async function sampleUntil(
  { base, renderer, weights, strings, signal }: UntilText,
  params: SamplingParams,
  prompt: Int32Array,
): Promise<SampledSequence> {
  const found = new AbortController();
  const sampled: number[] = [];
  let end = -1;
  const longest = Math.max(...strings.map(({ length }) => length));
  const sample = await base.sample(weights, {
    tokens: prompt,
    params,
    signal: AbortSignal.any([signal, found.signal]),
    onChunk({ tokens }) {
      for (const token of tokens) {
        sampled.push(token);
        if (end >= 0) continue;
        // A token is at least a byte, and a character at most four.
        const tail = renderer.decode(Int32Array.from(sampled.slice(-4 * longest - 4)));
        if (!strings.some((text) => tail.includes(text))) continue;
        end = sampled.length;
        found.abort();
      }
    },
  });
  if (end < 0) return toSequence(sample[0]!);
  const { tokens, logprobs, rawLogprobs } = toSequence(sample[0]!);
  return {
    tokens: tokens.slice(0, end),
    logprobs: logprobs!.slice(0, end),
    rawLogprobs: rawLogprobs.slice(0, end),
    stopReason: "stop",
  };
}
