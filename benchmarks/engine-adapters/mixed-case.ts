/** Child: the same batches, in turns through one adapter, several, and none. */
import { defaultSampling, type SampleRequest } from "../../src/core/policy.ts";
import { createRandom } from "../../src/util/random.ts";
import { openEngine } from "../engine/open-engine.ts";
import type { ModelCase } from "../engine/models.ts";
import { answer } from "../harness/child-side.ts";

export interface MixedInput {
  readonly model: ModelCase;
  readonly batch: number;
  readonly promptTokens: number;
  readonly newTokens: number;
  readonly repetitions: number;
  /** How many adapters share a batch in each series; 0 is the base alone. */
  readonly counts: readonly number[];
}

export interface MixedOutput {
  /** [series][repetition] */
  readonly seconds: readonly (readonly number[])[];
}

answer(async (input: MixedInput): Promise<MixedOutput> => {
  const { model, batch, promptTokens, newTokens, repetitions, counts } = input;
  const random = createRandom(1);
  const names = Array.from({ length: Math.max(...counts) }, (_, i) => `role-${i}`);
  await using engine = await openEngine(model, names);
  // Prompts are new each time: a cached one would cost nothing.
  const requestOf = (seed: number, count: number): SampleRequest => ({
    tokens: Int32Array.from({ length: promptTokens }, () => Math.floor(random() * model.vocabSize)),
    params: { ...defaultSampling, maxTokens: newTokens, stopTokenIds: [], seed },
    adapter: count === 0 ? null : names[seed % count]!,
  });
  const seconds = counts.map((): number[] => []);
  for (let i = 0; i <= repetitions; i++) {
    for (const [series, count] of counts.entries()) {
      const requests = Array.from({ length: batch }, (_, seed) => requestOf(seed, count));
      const start = performance.now();
      await Promise.all(requests.map((request) => engine.sample(request)));
      if (i > 0) seconds[series]!.push((performance.now() - start) / 1000);
    }
  }
  return { seconds };
});
