/** A sampler whose completions are scripted. Supports n, abort, maxTokens, stop ids and chunks. */
import { ContextOverflowError } from "../core/errors.ts";
import type {
  Renderer,
  Sample,
  SampleRequest,
  Sampler,
  SamplingParams,
  StopReason,
} from "../core/policy.ts";
import { raceAbort } from "../util/abort.ts";
import { createByteRenderer } from "./byte-renderer.ts";

/** What a script may look at. */
export interface ScriptedCall {
  /** The prompt as text, without special tokens. */
  readonly text: string;
  /** The prompt. */
  readonly tokens: Int32Array;
  /** Calls before this one, over all prompts. */
  readonly index: number;
  /** Which of the `n` sequences is requested. */
  readonly choice: number;
  readonly params: SamplingParams;
}

type Response = string | readonly number[] | Int32Array;

/**
 * Completions, or a function of the call that gives one. A string means its UTF-8 bytes and the first
 * stop id; tokens are taken as they are, and end the sequence with `length` unless a stop id is among them.
 */
export type Script = readonly Response[] | ((call: ScriptedCall) => Response | Promise<Response>);

/** Options of a scripted sampler: chunks, delays, lengths. */
export interface ScriptedSamplerOptions {
  /** Makes `ScriptedCall.text`. @default that of `createByteRenderer()` */
  readonly decode?: Renderer["decode"];
  /** @default 65_536 */
  readonly contextLength?: number;
  /** Asked at each dispatch. @default 0 */
  readonly weightVersion?: number | (() => number);
  /** Tokens per chunk, at least 1. @default 1 */
  readonly chunkSize?: number;
  /** Awaited before each chunk: pauses a call at a known place. @default continues at once */
  readonly beforeChunk?: (call: ScriptedCall, sampled: number) => Promise<void> | void;
  /** Whether `requests` keeps them, for tests to look at. @default true */
  readonly keepRequests?: boolean;
}

/** A sampler that replays a script and remembers its requests. */
export interface ScriptedSampler extends Sampler {
  /** Every request so far, in order; none with `keepRequests: false`. */
  readonly requests: readonly SampleRequest[];
}

/** The log-probability that a scripted sampler gives a token at a place in its completion. */
export function scriptedLogprob(token: number, position: number): number {
  return Math.fround(-(((token * 31 + position * 17) % 97) + 1) / 100);
}

const encoder = new TextEncoder();

function toTokens(response: Response, params: SamplingParams): Int32Array {
  if (typeof response !== "string") return Int32Array.from(response);
  return Int32Array.from([...encoder.encode(response), ...params.stopTokenIds.slice(0, 1)]);
}

/** How much of the scripted tokens is sampled, and why it ends there. */
function bound(
  tokens: Int32Array,
  limit: number,
  stopIds: readonly number[],
): { tokens: Int32Array; stopReason: StopReason } {
  const stopAt = tokens.findIndex((token) => stopIds.includes(token));
  if (stopAt !== -1 && stopAt < limit) {
    return { tokens: tokens.subarray(0, stopAt + 1), stopReason: "stop" };
  }
  return { tokens: tokens.subarray(0, limit), stopReason: "length" };
}

function sampleOf(
  tokens: Int32Array,
  stopReason: StopReason,
  weightVersion: number,
  { temperature }: SamplingParams,
): Sample {
  const logprobs = logprobsOf(tokens, 0);
  return {
    tokens,
    logprobs,
    // As if logits were log-probabilities whose sum needs no correction.
    ...(temperature === 1 || temperature === 0
      ? {}
      : { temperedLogprobs: logprobs.map((logprob) => logprob / temperature) }),
    stopReason,
    weightVersion,
  };
}

function logprobsOf(tokens: Int32Array, start: number): Float32Array {
  return Float32Array.from(tokens, (token, i) => scriptedLogprob(token, start + i));
}

/**
 * A deterministic sampler for tests.
 *
 * @example
 * const sampler = createScriptedSampler(({ text }) => (text.includes("2+2") ? "4" : "I do not know"));
 */
export function createScriptedSampler(
  script: Script,
  options: ScriptedSamplerOptions = {},
): ScriptedSampler {
  const { contextLength = 65_536, weightVersion = 0, chunkSize = 1, beforeChunk } = options;
  const { keepRequests = true } = options;
  const renderer = createByteRenderer();
  const decode = options.decode ?? ((tokens: Int32Array) => renderer.decode(tokens));
  const requests: SampleRequest[] = [];
  let nextIndex = 0;

  async function responseOf(call: ScriptedCall): Promise<Response> {
    if (typeof script === "function") return script(call);
    const response = script[call.index];
    if (response !== undefined) return response;
    throw new Error(`The script has ${script.length} responses; call ${call.index} has none.`);
  }

  async function sample(
    request: SampleRequest,
    call: ScriptedCall,
    version: number,
  ): Promise<Sample> {
    const { signal, onChunk, params } = request;
    const until = <T>(work: Promise<T>): Promise<T> => (signal ? raceAbort(work, signal) : work);
    let sampled = 0;
    let scripted: Int32Array = new Int32Array(0);
    try {
      scripted = toTokens(await until(responseOf(call)), params);
      const limit = Math.min(params.maxTokens, contextLength - request.tokens.length);
      const { tokens, stopReason } = bound(scripted, limit, params.stopTokenIds);
      if (!onChunk && !beforeChunk) return sampleOf(tokens, stopReason, version, params);
      while (sampled < tokens.length) {
        await until(Promise.resolve(beforeChunk?.(call, sampled)));
        const chunk = tokens.slice(sampled, sampled + chunkSize);
        const logprobs = logprobsOf(chunk, sampled);
        sampled += chunk.length;
        onChunk?.({ index: call.choice, tokens: chunk, logprobs });
      }
      return sampleOf(tokens, stopReason, version, params);
    } catch (error) {
      if (signal?.aborted !== true) throw error;
      return sampleOf(scripted.slice(0, sampled), "aborted", version, params);
    }
  }

  return {
    contextLength,
    requests,
    async sample(request) {
      const { tokens, params, n = 1 } = request;
      if (tokens.length >= contextLength) {
        throw new ContextOverflowError(tokens.length, contextLength);
      }
      const index = nextIndex++;
      if (keepRequests) requests.push(request);
      const version = typeof weightVersion === "function" ? weightVersion() : weightVersion;
      const text = decode(tokens);
      return Promise.all(
        Array.from({ length: n }, (_, choice) =>
          sample(request, { text, tokens, index, choice, params }, version),
        ),
      );
    },
  };
}
