/** Ends the process while the engine trains and samples. */
import { defaultLoss, defaultOptim } from "../../../src/core/loss/loss.ts";
import type { SamplerTarget } from "../../../src/core/backend.ts";
import { createLocalBackend } from "../../../src/backends/local/index.ts";
import { randomTokens, rowOf } from "../small-model.ts";

const backend = createLocalBackend({ threads: 2 });
const { signal } = new AbortController();
const model = { name: "builtin:shop-tiny", lora: null };
const { sampler } = (await backend.start({ seed: 1, model, signal })) as SamplerTarget;
const rows = Array.from({ length: 64 }, (_, i) => rowOf(randomTokens(i, 400, 500), 5));
const training = backend.updatePolicy(rows, defaultLoss, defaultOptim);
const sampling = sampler.sample({
  tokens: randomTokens(1, 9, 500),
  n: 8,
  params: {
    temperature: 1,
    topP: 1,
    topK: 0,
    minP: 0,
    maxTokens: 400,
    stopTokenIds: [],
    seed: 1,
  },
});
for (const work of [training, sampling]) work.catch(() => undefined);
setTimeout(() => process.exit(3), Number(process.argv[2]));
