/** Child: one model continues a batch of prompts. */
import { defaultSampling, type SampleRequest } from "../../src/core/policy.ts";
import { createRandom } from "../../src/util/random.ts";
import { answer, peakMiB } from "../harness/child-side.ts";
import type { ModelCase } from "./models.ts";
import { openEngine } from "./open-engine.ts";

export interface SampleInput {
  readonly model: ModelCase;
  /** Prompts at once, all different. */
  readonly batch: number;
  readonly promptTokens: number;
  readonly newTokens: number;
  readonly repetitions: number;
}

export interface SampleOutput {
  /** Of each repetition. */
  readonly seconds: readonly number[];
  readonly peakMiB: number;
}

answer(async (input: SampleInput): Promise<SampleOutput> => {
  const { model, batch, promptTokens, newTokens, repetitions } = input;
  const random = createRandom(1);
  // Prompts are new each time: a cached one would cost nothing.
  const makeRequest = (seed: number): SampleRequest => ({
    tokens: Int32Array.from({ length: promptTokens }, () => Math.floor(random() * model.vocabSize)),
    params: { ...defaultSampling, maxTokens: newTokens, stopTokenIds: [], seed },
  });
  await using engine = await openEngine(model);
  const seconds: number[] = [];
  for (let i = 0; i <= repetitions; i++) {
    const requests = Array.from({ length: batch }, (_, seed) => makeRequest(seed));
    const start = performance.now();
    await Promise.all(requests.map((request) => engine.sample(request)));
    if (i > 0) seconds.push((performance.now() - start) / 1000);
  }
  return { seconds, peakMiB: peakMiB() };
});
