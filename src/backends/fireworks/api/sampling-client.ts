/** Samples from one set of weights: one request for one sequence, streamed. */
import { randomUUID } from "node:crypto";
import { nameOf, type HttpCall } from "../../../tinker-api/wire/transport.ts";
import { backOffMs } from "../../../util/retry.ts";
import { defined } from "../../../util/defined.ts";
import type { AdaptiveSlots } from "../../../util/adaptive-slots.ts";
import type { FireworksCallOptions } from "./client-options.ts";
import { readCompletion, type FireworksSample } from "./completion-stream.ts";
import { FireworksError } from "./fireworks-error.ts";
import type { FireworksHttp } from "./http.ts";

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
      return await this.#retried(isEcho, {
        method: "POST",
        path: this.#http.paths.completions,
        headers: {
          accept: "text/event-stream",
          authorization: `Bearer ${apiKey}`,
          "x-request-id": randomUUID().replaceAll("-", ""),
        },
        timeoutMs: sampleTimeoutMs,
        signal,
        onOverload: () => slot.overloaded(),
        json: {
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

  async #retried(isEcho: boolean, call: HttpCall): Promise<FireworksSample> {
    let loads = 0;
    let failures = 0;
    for (;;) {
      const outcome = await this.#http.attempt(call, loads + failures + 1);
      let error: Error;
      if (outcome.kind === "ok") {
        const sample = readCompletion(outcome.response.bytes, isEcho);
        if (sample !== null) return sample;
        error = new FireworksError({ message: `${nameOf(call)}: the stream ended too early.` });
      } else {
        const { status } = outcome.fault;
        ({ error } = outcome.fault);
        // Weights are loaded where they are needed first: the server says this until then.
        if (status === 404 || status === 425) {
          if (++loads >= loading.attempts) throw error;
          await this.#http.sleep(loading.waitMs, call.signal);
          continue;
        }
        if (status !== null && status !== 408 && status !== 429 && status < 500) throw error;
      }
      if (++failures >= maxAttempts) throw error;
      this.#http.warnOfRetry(nameOf(call), error);
      await this.#http.sleep(backOffMs(failures, { firstMs, maxMs, jitter: 0.25 }), call.signal);
    }
  }
}
