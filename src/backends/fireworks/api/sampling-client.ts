/** Samples from one set of weights: one request for one sequence, streamed. */
import { randomUUID } from "node:crypto";
import { backOffMs } from "../../../util/retry.ts";
import { defined } from "../../../util/defined.ts";
import type { AdaptiveSlot, AdaptiveSlots } from "../../../util/adaptive-slots.ts";
import { readCompletion, type FireworksSample } from "./completion-stream.ts";
import { FireworksError } from "./fireworks-error.ts";
import type { FireworksCallOptions } from "./futures.ts";
import type { Fault } from "./fault-policy.ts";
import { requestName, type FireworksHttp, type HttpCall } from "./http.ts";

/** How one sequence is sampled. */
export interface FireworksSampleOptions extends FireworksCallOptions {
  /** At least 1. */
  readonly maxTokens: number;
  /** @default 1 */
  readonly temperature?: number;
  /** @default 1 */
  readonly topP?: number;
  /** 0 = off. @default 0 */
  readonly topK?: number;
  /** @default the server's choice */
  readonly seed?: number;
  /** Texts that end the sequence. @default the model's end of a turn */
  readonly stop?: readonly string[];
}

/** Weights are loaded where they are needed first: the server says 404 or 425 until then. */
const loading = { attempts: 10, waitMs: 5_000 };
const maxAttempts = 7;
const firstMs = 2_000;
const maxMs = 30_000;

/** Samples from a snapshot on Fireworks, whose weights do not change. */
export class FireworksSamplingClient {
  /** As requests name the weights. */
  readonly model: string;
  readonly #http: FireworksHttp;
  readonly #slots: AdaptiveSlots;

  /** @internal Use `createSampler` of {@link FireworksClient}. */
  constructor(http: FireworksHttp, slots: AdaptiveSlots, model: string) {
    this.#http = http;
    this.#slots = slots;
    this.model = model;
  }

  /** One sequence that continues `prompt`. */
  async sample(prompt: Int32Array, options: FireworksSampleOptions): Promise<FireworksSample> {
    return this.#request(prompt, options, {});
  }

  /** [prompt] log-probability of each token after those before it, at temperature 1; NaN for the first. */
  async computeLogprobs(
    prompt: Int32Array,
    options: FireworksCallOptions = {},
  ): Promise<Float32Array> {
    const { logprobs } = await this.#request(prompt, { ...options, maxTokens: 1 }, { echo: true });
    const scores = logprobs.slice(0, prompt.length);
    if (scores.length > 0) scores[0] = Number.NaN;
    return scores;
  }

  async #request(
    prompt: Int32Array,
    options: FireworksSampleOptions,
    extra: { readonly echo?: true },
  ): Promise<FireworksSample> {
    const { signal } = options;
    const { apiKey, sampleTimeoutMs } = this.#http.settings;
    const slot = await this.#slots.take(signal);
    try {
      const isEcho = extra.echo === true;
      return await this.#retried(isEcho, slot, {
        method: "POST",
        path: this.#http.paths.completions,
        headers: {
          accept: "text/event-stream",
          authorization: `Bearer ${apiKey}`,
          "x-request-id": randomUUID().replaceAll("-", ""),
        },
        timeoutMs: sampleTimeoutMs,
        signal,
        body: {
          model: this.model,
          prompt: Array.from(prompt),
          n: 1,
          max_tokens: options.maxTokens,
          temperature: options.temperature ?? 1,
          stream: true,
          perf_metrics_in_response: true,
          raw_output: true,
          logprobs: true,
          // Without them, the model's generation_config truncates the distribution silently.
          top_p: options.topP ?? 1,
          top_k: options.topK ?? 0,
          ...extra,
          ...defined({ seed: options.seed, stop: options.stop }),
        },
      });
    } finally {
      slot.give();
    }
  }

  async #retried(isEcho: boolean, slot: AdaptiveSlot, call: HttpCall): Promise<FireworksSample> {
    let loads = 0;
    let failures = 0;
    for (;;) {
      const outcome = await this.#http.attempt(call, loads + failures);
      let error: FireworksError;
      if (outcome.kind === "ok") {
        const sample = readCompletion(outcome.response.text, isEcho);
        if (sample !== null) return sample;
        error = new FireworksError({
          message: `${requestName(call)}: the stream ended too early.`,
        });
      } else {
        ({ error } = outcome);
        if (isLoading(outcome.fault)) {
          if (++loads >= loading.attempts) throw error;
          await this.#http.sleep(loading.waitMs, call.signal);
          continue;
        }
        if (!isWorthRetrying(outcome.fault)) throw error;
        if (isOverload(outcome.fault)) slot.overloaded();
      }
      if (++failures >= maxAttempts) throw error;
      this.#http.warnOfRetry(requestName(call), error);
      await this.#http.sleep(backOffMs(failures, { firstMs, maxMs, jitter: 0.25 }), call.signal);
    }
  }
}

function isLoading(fault: Fault): boolean {
  return fault.kind === "status" && (fault.status === 404 || fault.status === 425);
}

function isOverload(fault: Fault): boolean {
  return fault.kind === "status" && (fault.status === 429 || fault.status === 503);
}

function isWorthRetrying(fault: Fault): boolean {
  if (fault.kind === "connection") return true;
  return fault.status === 408 || fault.status === 429 || fault.status >= 500;
}
