/** The policy as a `Sampler`: requests use the weights that are published when they are dispatched. */
import { backendsThat } from "../../core/capabilities.ts";
import { ContextOverflowError, UnsupportedOptionError } from "../../core/errors.ts";
import type { Sample, SampleRequest, Sampler } from "../../core/policy.ts";
import { TinkerWireError } from "../../tinker-api/tinker-error.ts";
import type { SamplingClient } from "../../tinker-api/sampling-client.ts";
import type { TinkerSample } from "../../tinker-api/messages.ts";
import { defined } from "../../util/defined.ts";
import type { SamplingProfile } from "./sampling-profile.ts";

export interface Published {
  readonly client: SamplingClient;
  readonly version: number;
}

export class VersionSampler implements Sampler {
  readonly contextLength: number;
  readonly #profile: SamplingProfile;
  readonly #published: () => Published;
  /** Tokens sampled since the start. */
  tokens = 0;
  /** Requests in flight. */
  inFlight = 0;

  constructor(contextLength: number, profile: SamplingProfile, published: () => Published) {
    this.contextLength = contextLength;
    this.#profile = profile;
    this.#published = published;
  }

  async sample(request: SampleRequest): Promise<readonly Sample[]> {
    const { tokens: prompt, params } = request;
    if (prompt.length >= this.contextLength)
      throw new ContextOverflowError(prompt.length, this.contextLength);
    // The API does not support it.
    if (params.minP !== 0)
      throw new UnsupportedOptionError(
        "min_p",
        params.minP,
        "tinker",
        backendsThat(({ forward }) => forward).filter((name) => name !== "tinker"),
      );
    this.inFlight += 1;
    try {
      return await this.#sample(this.#published(), request);
    } finally {
      this.inFlight -= 1;
    }
  }

  async #sample(
    { client, version }: Published,
    request: SampleRequest,
  ): Promise<readonly Sample[]> {
    const { tokens: prompt, params, n = 1, onChunk, signal } = request;
    const sampled = await client
      .sample(prompt, {
        n,
        maxTokens: Math.min(params.maxTokens, this.contextLength - prompt.length),
        temperature: params.temperature,
        topP: params.topP,
        topK: params.topK,
        seed: params.seed % (this.#profile.maxSeed + 1),
        stop: params.stopTokenIds,
        ...defined({ signal }),
      })
      .catch((error: unknown) => {
        if (signal?.aborted === true) return null;
        throw error;
      });
    if (sampled === null) return Array.from({ length: n }, () => aborted(version));
    const scored = params.temperature !== 1 && !this.#profile.rawLogprobs;
    const options = signal === undefined ? {} : { signal };
    return Promise.all(
      sampled.sequences.map(async (sequence, index) => {
        const { tokens, stopReason } = sequence;
        // The server's are those of the distribution that it sampled from, but its losses support
        // temperature 1 only: at any other, ratios would be wrong from the first update on.
        const logprobs = scored
          ? (await client.computeLogprobs(joined(prompt, tokens), options)).slice(prompt.length)
          : logprobsOf(sequence);
        this.tokens += tokens.length;
        onChunk?.({ index, tokens, logprobs });
        return { tokens, logprobs, stopReason, weightVersion: version };
      }),
    );
  }
}

/** @throws TinkerWireError when there are none */
function logprobsOf({ tokens, logprobs }: TinkerSample): Float32Array {
  if (logprobs?.length === tokens.length) return logprobs;
  throw new TinkerWireError("The server sampled without log-probabilities.");
}

function joined(prompt: Int32Array, tokens: Int32Array): Int32Array {
  const all = new Int32Array(prompt.length + tokens.length);
  all.set(prompt);
  all.set(tokens, prompt.length);
  return all;
}

function aborted(weightVersion: number): Sample {
  return {
    tokens: new Int32Array(0),
    logprobs: new Float32Array(0),
    stopReason: "aborted",
    weightVersion,
  };
}
