/** Sequences from Fireworks: a request for each, with a separate seed. */
import type { SampleRequest } from "../../core/policy.ts";
import { defined } from "../../util/defined.ts";
import { deriveSeed } from "../../util/random.ts";
import type { SampledSequence, Usage } from "../datum/published-sampler.ts";
import type { FireworksSample } from "./api/completion-stream.ts";
import type { FireworksSamplingClient } from "./api/sampling-client.ts";

export async function sampleSequences(
  client: FireworksSamplingClient,
  { tokens: prompt, params, n = 1, signal }: SampleRequest,
  usage: Usage,
): Promise<readonly Promise<SampledSequence>[]> {
  const { maxTokens, temperature, topP, topK } = params;
  return Array.from({ length: n }, async (_, index) => {
    const seed = index === 0 ? params.seed : deriveSeed(params.seed, index);
    const options = { maxTokens, temperature, topP, topK, seed, ...defined({ signal }) };
    const found = await client.sample(prompt, options);
    usage.sampled += found.tokens.length;
    usage.prompt += found.promptTokens === 0 ? prompt.length : found.promptTokens;
    const { tokens, logprobs, samplingLogprobs, stopReason } = endedBy(found, params.stopTokenIds);
    // Those of the sampling distribution are those of the tempered one only where nothing is cut off.
    const isTempered = temperature !== 1 && temperature !== 0 && topP === 1 && topK === 0;
    return {
      tokens,
      logprobs,
      ...(isTempered && samplingLogprobs !== null ? { temperedLogprobs: samplingLogprobs } : {}),
      stopReason,
    };
  });
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
