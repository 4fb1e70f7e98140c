/** Samples from one set of weights, which stays the same as long as the client is used. */
import { DeadlineError } from "../core/errors.ts";
import { modelInputJson, sampleFromJson } from "./codec/json-codec.ts";
import type { TinkerSample, TinkerSampleOutput, TopTokens } from "./messages.ts";
import { decodeSampleOutput } from "./codec/proto-codec.ts";
import type { AdaptiveSlot, AdaptiveSlots } from "../util/adaptive-slots.ts";
import { defined } from "../util/defined.ts";
import { TinkerResultGoneError } from "./tinker-error.ts";
import { awaitResult, issue, type TinkerCallOptions } from "./wire/futures.ts";
import type { HttpCall, Transport } from "./wire/transport.ts";

/** How many sequences to sample, and how. */
export interface TinkerSampleOptions extends TinkerCallOptions {
  /** Sequences to sample. @default 1 */
  readonly n?: number;
  /** At least 1. Some servers want it always. */
  readonly maxTokens: number;
  /** 0 = greedy. @default 1 */
  readonly temperature?: number;
  /** @default 1 */
  readonly topP?: number;
  /** 0 = off. @default 0 */
  readonly topK?: number;
  /** @default the server's choice */
  readonly seed?: number;
  /** Token ids or texts that end a sequence and belong to it. Absent: the server's own end, if it has one. */
  readonly stop?: readonly number[] | readonly string[];
  /** Also score the prompt. @default false */
  readonly promptLogprobs?: boolean;
  /** Also the most likely tokens at each position of the prompt. @default 0 */
  readonly topPromptLogprobs?: number;
}

/** How often a result that is gone is requested again. */
const freshTries = 3;

/** Samples from fixed weights on a Tinker server. */
export class SamplingClient {
  /** Of the session that the server samples in. */
  readonly id: string;
  readonly #transport: Transport;
  readonly #slots: AdaptiveSlots;
  #nextSeqId = 0;

  constructor(transport: Transport, slots: AdaptiveSlots, id: string) {
    this.id = id;
    this.#transport = transport;
    this.#slots = slots;
  }

  async sample(prompt: Int32Array, options: TinkerSampleOptions): Promise<TinkerSampleOutput> {
    const slot = await this.#slots.take(options.signal);
    try {
      for (let tries = 1; ; tries++) {
        try {
          return await this.#sampleOnce(prompt, options, slot);
        } catch (error) {
          // Sampling again does no harm, and needs its own number.
          if (!(error instanceof TinkerResultGoneError) || tries >= freshTries) throw error;
        }
      }
    } finally {
      slot.give();
    }
  }

  async #sampleOnce(
    prompt: Int32Array,
    options: TinkerSampleOptions,
    slot: AdaptiveSlot,
  ): Promise<TinkerSampleOutput> {
    const seqId = this.#nextSeqId++;
    const { signal } = options;
    const issued = await issue(this.#transport, {
      ...this.#call("asample", this.#body(prompt, options, seqId)),
      headers: { "x-tinker-sampling-backpressure": "1" },
      onOverload: () => slot.overloaded(),
      signal,
    });
    const awaited = { ...options, type: "Sample", acceptProto: true, seqId };
    const payload = await awaitResult(this.#transport, issued, awaited).catch((error: unknown) => {
      if (signal?.aborted === true || error instanceof DeadlineError)
        this.#cancel(issued.requestId);
      throw error;
    });
    const output =
      payload.kind === "proto" ? decodeSampleOutput(payload.bytes) : sampleFromJson(payload.value);
    return { ...output, promptLogprobs: withFirst(output.promptLogprobs, prompt.length) };
  }

  #call(route: string, json: object): HttpCall {
    return { method: "POST", path: this.#transport.route(route), json };
  }

  /** A server that knows the route stops sampling; for another, nothing changes. */
  #cancel(requestId: string): void {
    const call = this.#call("cancel_future", { request_id: requestId });
    void this.#transport.attempt(call).catch(() => undefined);
  }

  #body(prompt: Int32Array, options: TinkerSampleOptions, seqId: number): object {
    const top = options.topPromptLogprobs ?? 0;
    return {
      type: "sample",
      sampling_session_id: this.id,
      seq_id: seqId,
      num_samples: options.n ?? 1,
      prompt: modelInputJson(prompt),
      sampling_params: {
        max_tokens: options.maxTokens,
        temperature: options.temperature ?? 1,
        top_p: options.topP ?? 1,
        top_k: options.topK === undefined || options.topK === 0 ? -1 : options.topK,
        ...defined({ seed: options.seed, stop: options.stop }),
      },
      prompt_logprobs: options.promptLogprobs ?? top > 0,
      topk_prompt_logprobs: top,
    };
  }

  /** [prompt] log-probability of each token after those before it; NaN for the first. */
  async computeLogprobs(
    prompt: Int32Array,
    options: TinkerCallOptions = {},
  ): Promise<Float32Array> {
    const wanted = { ...options, maxTokens: 1, promptLogprobs: true };
    const { promptLogprobs } = await this.sample(prompt, wanted);
    return promptLogprobs ?? new Float32Array(prompt.length).fill(Number.NaN);
  }
}

export type { TinkerSample, TinkerSampleOutput, TopTokens };

/** Some servers omit the first token, which has no probability. */
function withFirst(logprobs: Float32Array | null, length: number): Float32Array | null {
  if (logprobs === null || logprobs.length !== length - 1) return logprobs;
  return Float32Array.of(Number.NaN, ...logprobs);
}
