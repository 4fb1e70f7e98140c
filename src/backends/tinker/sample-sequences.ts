/** Sequences from a Tinker server, with log-probabilities at temperature 1. */
import { joinTokens } from "../../util/token-prefix.ts";
import type { SampleRequest } from "../../core/policy.ts";
import type { TinkerSample } from "../../tinker-api/messages.ts";
import type { SamplingClient } from "../../tinker-api/sampling-client.ts";
import { TinkerWireError } from "../../tinker-api/tinker-error.ts";
import { defined } from "../../util/defined.ts";
import type { SampledSequence, Usage } from "../datum/published-sampler.ts";
import type { SamplingProfile } from "./sampling-profile.ts";

export async function sampleSequences(
  client: SamplingClient,
  { maxSeed, rawLogprobs }: SamplingProfile,
  { tokens: prompt, params, n = 1, signal }: SampleRequest,
  usage: Usage,
): Promise<readonly Promise<SampledSequence>[]> {
  const { temperature } = params;
  const options = defined({ signal });
  const { sequences } = await client.sample(prompt, {
    n,
    maxTokens: params.maxTokens,
    temperature,
    topP: params.topP,
    topK: params.topK,
    seed: params.seed % (maxSeed + 1),
    stop: params.stopTokenIds,
    ...options,
  });
  return sequences.map(async (sequence) => {
    const { tokens, stopReason } = sequence;
    // The server's are those of the distribution that it sampled from, but its losses support
    // temperature 1 only: at any other, ratios would be wrong from the first update on.
    const logprobs =
      temperature === 1 || rawLogprobs
        ? logprobsOf(sequence)
        : (await client.computeLogprobs(joinTokens(prompt, tokens), options)).slice(prompt.length);
    usage.sampled += tokens.length;
    return { tokens, logprobs, stopReason };
  });
}

/** @throws TinkerWireError when there are none */
function logprobsOf({ tokens, logprobs }: TinkerSample): Float32Array {
  if (logprobs?.length === tokens.length) return logprobs;
  throw new TinkerWireError("The server sampled without log-probabilities.");
}
