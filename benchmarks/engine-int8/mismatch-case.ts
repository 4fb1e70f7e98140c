/** Child: how far what a model draws from is from what training computes with. */
import { defaultLoss } from "../../src/core/loss/loss.ts";
import { defaultSampling } from "../../src/core/policy.ts";
import type { ModelCase } from "../engine/models.ts";
import { openEngine } from "../engine/open-engine.ts";
import { provenance } from "../engine/rows.ts";
import { answer } from "../harness/child-side.ts";
import { createRandom } from "../../src/util/random.ts";

export interface MismatchInput {
  readonly model: ModelCase;
  /** Beginnings that are continued, four times each. */
  readonly prompts: number;
  readonly newTokens: number;
}

/** Means over drawn tokens. */
export interface Mismatch {
  readonly logprobDifference: number;
  /** k3, in nats. */
  readonly kl: number;
  /** Of importance weights, as a share of the tokens. */
  readonly effectiveSampleSize: number;
}

const promptTokens = 4;
const rollouts = 4;

answer(async ({ model, prompts, newTokens }: MismatchInput): Promise<Mismatch> => {
  const random = createRandom(1);
  const params = { ...defaultSampling, maxTokens: newTokens, stopTokenIds: [] };
  await using engine = await openEngine(model);
  const length = promptTokens + newTokens;
  const rowsOf = async (seed: number): Promise<Parameters<typeof engine.forwardBackward>[0]> => {
    const prompt = Int32Array.from({ length: promptTokens }, () =>
      Math.floor(random() * model.vocabSize),
    );
    const samples = await engine.sample({
      tokens: prompt,
      n: rollouts,
      params: { ...params, seed },
    });
    return samples.map(({ tokens, logprobs }) => {
      const samplingLogprobs = new Float32Array(length);
      samplingLogprobs.set(logprobs, promptTokens);
      return {
        tokens: Int32Array.from([...prompt, ...tokens]),
        targetMask: new Uint8Array(length).fill(1, promptTokens),
        samplingLogprobs,
        advantages: new Float32Array(length).fill(1, promptTokens),
        segments: [],
        provenance,
      };
    });
  };
  const groups = await Promise.all(Array.from({ length: prompts }, (_, seed) => rowsOf(seed)));
  const metrics = await engine.forwardBackward(groups.flat(), defaultLoss);
  return {
    logprobDifference: metrics["logprob_abs_diff_mean"]!,
    kl: metrics["kl_k3"]!,
    effectiveSampleSize: metrics["ess_fraction"]!,
  };
});
