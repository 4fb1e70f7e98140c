/** One sequence that is being sampled, and the request that it belongs to. */
import type {
  Sample,
  SampleRequest,
  SamplingParams,
  StopReason,
  WeightChange,
} from "../../core/policy.ts";
import { defined } from "../../util/defined.ts";
import { createRandom, deriveSeed } from "../../util/random.ts";
import type { DecoderWeights } from "../decoder/weights.ts";
import type { CompiledRules } from "../logit-rules/compiler.ts";
import type { RuleState } from "../logit-rules/rule-state.ts";

export interface SampledToken {
  readonly token: number;
  /** Natural log of p(token) under the full softmax at temperature 1. */
  readonly logprob: number;
  /** The same under the full softmax at the sampling temperature; absent at temperature 1 and 0. */
  readonly temperedLogprob?: number;
}

/** Whether the sampling policy differs from that at temperature 1; greedy counts as temperature 1. */
export function isTempered({ temperature }: Pick<SamplingParams, "temperature">): boolean {
  return temperature !== 1 && temperature !== 0;
}

export interface QueuedRequest {
  readonly request: SampleRequest;
  /** What it is sampled from. */
  readonly weights: DecoderWeights;
  /** What all of its sequences begin with; null for nothing. */
  readonly rules: CompiledRules | null;
  /** @see Sample.neededTokens */
  readonly neededTokens: number | null;
  readonly n: number;
  readonly weightVersion: number;
  /** Sequences started for it. */
  begun: number;
  readonly results: (Sample | undefined)[];
  /** Sequences that have not ended. */
  open: number;
  readonly resolve: (samples: readonly Sample[]) => void;
  readonly reject: (error: unknown) => void;
}

export interface Sequence {
  readonly request: QueuedRequest;
  /** Smaller is older. */
  readonly order: number;
  readonly index: number;
  /** What changes its distribution; null for nothing. */
  readonly rules: RuleState | null;
  readonly promptTokens: number;
  readonly uniform: () => number;
  readonly limit: number;
  readonly tokens: number[];
  readonly logprobs: number[];
  /** At the sampling temperature; null where `logprobs` are those. */
  readonly temperedLogprobs: number[] | null;
  /** Of its tokens, those whose keys and values are there. */
  cached: number;
  /** Of the latest token. */
  version: number;
  readonly changes: WeightChange[];
}

/** The next of the request's n sequences. */
export function newSequence(
  request: QueuedRequest,
  order: number,
  contextLength: number,
  rules: RuleState | null = null,
): Sequence {
  const { tokens, params } = request.request;
  const index = request.begun;
  request.begun += 1;
  return {
    request,
    order,
    index,
    rules,
    promptTokens: tokens.length,
    uniform: createRandom(deriveSeed(params.seed, index)),
    limit: Math.min(params.maxTokens, contextLength - tokens.length),
    tokens: [],
    logprobs: [],
    temperedLogprobs: isTempered(params) ? [] : null,
    version: request.weightVersion,
    changes: [],
    cached: 0,
  };
}

/** @returns why the sequence ends with it, or null. */
export function recordToken(
  sequence: Sequence,
  { token, logprob, temperedLogprob }: SampledToken,
  weightVersion: number,
): StopReason | null {
  const { params, onChunk } = sequence.request.request;
  if (sequence.version !== weightVersion) {
    sequence.version = weightVersion;
    sequence.changes.push({ at: sequence.tokens.length, weightVersion });
  }
  sequence.tokens.push(token);
  sequence.logprobs.push(logprob);
  sequence.temperedLogprobs?.push(temperedLogprob ?? logprob);
  sequence.rules?.accept(token);
  onChunk?.({
    index: sequence.index,
    tokens: Int32Array.of(token),
    logprobs: Float32Array.of(logprob),
  });
  if (params.stopTokenIds.includes(token)) return "stop";
  return sequence.tokens.length < sequence.limit ? null : "length";
}

/** Resolves the request with its last sequence. */
export function finishSequence(sequence: Sequence, stopReason: StopReason): void {
  const { request: queued, tokens, logprobs, temperedLogprobs, changes } = sequence;
  const neededTokens = queued.neededTokens ?? undefined;
  queued.results[sequence.index] = {
    tokens: Int32Array.from(tokens),
    logprobs: Float32Array.from(logprobs),
    ...(temperedLogprobs === null ? {} : { temperedLogprobs: Float32Array.from(temperedLogprobs) }),
    stopReason,
    weightVersion: queued.weightVersion,
    ...(changes.length === 0 ? {} : { weightChanges: changes }),
    ...defined({ neededTokens }),
  };
  queued.open -= 1;
  if (queued.open === 0) queued.resolve(queued.results as Sample[]);
}
