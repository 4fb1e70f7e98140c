/** The policy as a `Sampler`: requests go to the weights that are published when they are dispatched. */
import { backendsThat } from "../../core/capabilities.ts";
import { ContextOverflowError, UnsupportedOptionError } from "../../core/errors.ts";
import type { Sample, SampleRequest, Sampler } from "../../core/policy.ts";
import { TinkerWireError } from "../../tinker-api/tinker-error.ts";
import type { SamplingClient } from "../../tinker-api/sampling-client.ts";

export interface Published {
  readonly client: SamplingClient;
  readonly version: number;
}

export class VersionSampler implements Sampler {
  readonly contextLength: number;
  readonly #published: () => Published;
  /** Tokens drawn since the beginning. */
  tokens = 0;

  constructor(contextLength: number, published: () => Published) {
    this.contextLength = contextLength;
    this.#published = published;
  }

  async sample(request: SampleRequest): Promise<readonly Sample[]> {
    const { tokens: prompt, params, n = 1, onChunk, signal } = request;
    if (prompt.length >= this.contextLength)
      throw new ContextOverflowError(prompt.length, this.contextLength);
    // There is no word for it in the API.
    if (params.minP !== 0)
      throw new UnsupportedOptionError(
        "min_p",
        params.minP,
        "tinker",
        backendsThat(({ forward }) => forward).filter((name) => name !== "tinker"),
      );
    const { client, version } = this.#published();
    const drawn = await client
      .sample(prompt, {
        n,
        maxTokens: Math.min(params.maxTokens, this.contextLength - prompt.length),
        temperature: params.temperature,
        topP: params.topP,
        topK: params.topK,
        seed: params.seed,
        stop: params.stopTokenIds,
        ...(signal === undefined ? {} : { signal }),
      })
      .catch((error: unknown) => {
        if (signal?.aborted === true) return null;
        throw error;
      });
    if (drawn === null) return Array.from({ length: n }, () => aborted(version));
    return drawn.sequences.map(({ tokens, logprobs, stopReason }, index) => {
      if (logprobs?.length !== tokens.length)
        throw new TinkerWireError("The server sampled without log-probabilities.");
      this.tokens += tokens.length;
      onChunk?.({ index, tokens, logprobs });
      return { tokens, logprobs, stopReason, weightVersion: version };
    });
  }
}

function aborted(weightVersion: number): Sample {
  return {
    tokens: new Int32Array(0),
    logprobs: new Float32Array(0),
    stopReason: "aborted",
    weightVersion,
  };
}
