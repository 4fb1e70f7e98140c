/** The policy as a `Sampler`: requests use the snapshot that is published when they are dispatched. */
import { backendsThat } from "../../core/capabilities.ts";
import { ContextOverflowError, UnsupportedOptionError } from "../../core/errors.ts";
import type { Sample, SampleRequest, Sampler } from "../../core/policy.ts";
import { defined } from "../../util/defined.ts";
import { deriveSeed } from "../../util/random.ts";
import type { FireworksSample } from "./api/completion-stream.ts";
import type { FireworksSamplingClient } from "./api/sampling-client.ts";

export interface Published {
  readonly client: FireworksSamplingClient;
  readonly version: number;
}

export class SnapshotSampler implements Sampler {
  readonly contextLength: number;
  readonly #published: () => Promise<Published>;
  /** Since the start. */
  sampledTokens = 0;
  promptTokens = 0;

  constructor(contextLength: number, published: () => Promise<Published>) {
    this.contextLength = contextLength;
    this.#published = published;
  }

  async sample(request: SampleRequest): Promise<readonly Sample[]> {
    const { tokens: prompt, params, n = 1 } = request;
    if (prompt.length >= this.contextLength)
      throw new ContextOverflowError(prompt.length, this.contextLength);
    if (params.minP !== 0)
      throw new UnsupportedOptionError(
        "min_p",
        params.minP,
        "fireworks",
        backendsThat(({ minP = true }) => minP),
      );
    const published = await this.#published();
    return Promise.all(
      Array.from({ length: n }, (_, index) => this.#sampleOne(published, request, index)),
    );
  }

  async #sampleOne(
    { client, version }: Published,
    { tokens: prompt, params, onChunk, signal }: SampleRequest,
    index: number,
  ): Promise<Sample> {
    const seed = index === 0 ? params.seed : deriveSeed(params.seed, index);
    const found = await client
      .sample(prompt, {
        maxTokens: Math.min(params.maxTokens, this.contextLength - prompt.length),
        temperature: params.temperature,
        topP: params.topP,
        topK: params.topK,
        seed,
        ...defined({ signal }),
      })
      .catch((error: unknown) => {
        if (signal?.aborted === true) return null;
        throw error;
      });
    if (found === null) return aborted(version);
    this.sampledTokens += found.tokens.length;
    this.promptTokens += found.promptTokens === 0 ? prompt.length : found.promptTokens;
    const { tokens, logprobs, samplingLogprobs, stopReason } = endedBy(found, params.stopTokenIds);
    onChunk?.({ index, tokens, logprobs });
    // Those of the sampling distribution are those of the tempered one only where nothing is cut off.
    const isTempered =
      samplingLogprobs !== null &&
      params.temperature !== 1 &&
      params.temperature !== 0 &&
      params.topP === 1 &&
      params.topK === 0;
    return {
      tokens,
      logprobs,
      ...(isTempered ? { temperedLogprobs: samplingLogprobs } : {}),
      stopReason,
      weightVersion: version,
    };
  }
}

/** The API takes stop strings only, so a sequence may run past a stop token that its model does not know. */
function endedBy(sample: FireworksSample, stopTokenIds: readonly number[]): FireworksSample {
  const at = sample.tokens.findIndex((token) => stopTokenIds.includes(token));
  if (at < 0) return sample;
  const end = at + 1;
  return {
    ...sample,
    tokens: sample.tokens.slice(0, end),
    logprobs: sample.logprobs.slice(0, end),
    samplingLogprobs: sample.samplingLogprobs?.slice(0, end) ?? null,
    stopReason: "stop",
  };
}

function aborted(weightVersion: number): Sample {
  return {
    tokens: new Int32Array(0),
    logprobs: new Float32Array(0),
    stopReason: "aborted",
    weightVersion,
  };
}
