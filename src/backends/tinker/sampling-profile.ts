/** How a Tinker server samples, where servers differ; probed by sampling a few tokens. */
import { TinkerError } from "../../tinker-api/tinker-error.ts";
import type { TinkerSampleOptions, SamplingClient } from "../../tinker-api/sampling-client.ts";
import type { TinkerSampleOutput } from "../../tinker-api/messages.ts";

export interface SamplingProfile {
  /** Seeds are reduced to at most this. */
  readonly maxSeed: number;
  /** Log-probabilities of sampled tokens are those at temperature 1, whatever the temperature. */
  readonly rawLogprobs: boolean;
}

const ourLargestSeed = 2 ** 32 - 1;
/** Below 2^31, with room for a server that increments the seed for each sequence. */
const smallLargestSeed = 2 ** 31 - 2 ** 12;
/** Arbitrary small ids: every model has them. */
const probePrompt = Int32Array.of(5, 6, 7, 8);
/**
 * Far from 1, and above it: for a model that is nearly certain, both types of log-probabilities are
 * about 0 at a low temperature.
 */
const probeTemperature = 2;
/** In nats; two computations of the same number may differ by this much in 16 bits. */
const tolerance = 0.1;

const sample: Omit<TinkerSampleOptions, "seed"> = {
  maxTokens: 8,
  temperature: probeTemperature,
  stop: [],
};

export async function probeSampling(
  sampler: SamplingClient,
  signal: AbortSignal,
): Promise<SamplingProfile> {
  const { output, maxSeed } = await sampleWithLargeSeed(sampler, signal);
  const [sequence] = output.sequences;
  const { tokens = new Int32Array(0), logprobs } = sequence ?? {};
  const all = Int32Array.of(...probePrompt, ...tokens);
  const scores = await sampler.computeLogprobs(all, { signal });
  const raw = scores.subarray(probePrompt.length);
  const distance = (logprobs ?? raw).reduce((sum, l, i) => sum + Math.abs(l - raw[i]!), 0);
  return { maxSeed, rawLogprobs: distance / tokens.length <= tolerance };
}

async function sampleWithLargeSeed(
  sampler: SamplingClient,
  signal: AbortSignal,
): Promise<{ readonly output: TinkerSampleOutput; readonly maxSeed: number }> {
  try {
    const output = await sampler.sample(probePrompt, { ...sample, seed: ourLargestSeed, signal });
    return { output, maxSeed: ourLargestSeed };
  } catch (error) {
    if (!(error instanceof TinkerError)) throw error;
    const output = await sampler.sample(probePrompt, { ...sample, seed: smallLargestSeed, signal });
    return { output, maxSeed: smallLargestSeed };
  }
}
