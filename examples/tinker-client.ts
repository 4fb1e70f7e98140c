/**
 * A training loop of your own on a Tinker server: teaches a model one sentence, and shows what it says.
 *
 *   TINKER_API_KEY=tml-local npx agent-trainer serve --tinker
 *   TINKER_API_KEY=tml-local TINKER_BASE_URL=http://127.0.0.1:8100 npx tsx examples/tinker-client.ts
 */
import { floatTensor, idTensor, TinkerClient } from "agent-trainer/tinker";

await using client = await TinkerClient.connect();
const [served] = await client.rest.models();
const baseModel = process.env["MODEL"] ?? served?.name ?? "builtin:shop-tiny";
const model = await client.createModel({ baseModel, rank: 8, seed: 1 });

// The ids of a sentence; with a tokenizer at hand, they would come from it.
const sentence = Int32Array.of(40, 41, 42, 43, 44, 45, 46, 47);
const datum = {
  tokens: sentence.slice(0, -1),
  lossInputs: {
    target_tokens: idTensor(sentence.slice(1)),
    weights: floatTensor(new Float32Array(sentence.length - 1).fill(1)),
  },
};

for (let step = 1; step <= 20; step++) {
  const [{ metrics }] = await Promise.all([
    model.forwardBackward([datum], "cross_entropy"),
    model.optimStep({ learningRate: 0.01 }),
  ]);
  console.log(`step ${step}  loss ${metrics["loss:sum"]?.toFixed(3)}`);
}

const sampler = await model.createSampler();
const { sequences } = await sampler.sample(sentence.slice(0, 2), {
  maxTokens: sentence.length - 2,
  temperature: 0,
  stop: [],
});
console.log("says", sequences[0]?.tokens);
console.log("kept as", await model.saveState(`lesson-${Date.now()}`));
