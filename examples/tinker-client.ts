/**
 * A custom training loop on a Tinker server: teaches the built-in model an answer, then samples it.
 *
 *   TINKER_API_KEY=tml-local npx agent-trainer serve --tinker
 *   TINKER_API_KEY=tml-local TINKER_BASE_URL=http://127.0.0.1:8100 npx tsx examples/tinker-client.ts
 */
import { createFloatTensor, createIdTensor, createTinkerClient } from "agent-trainer/tinker";

await using client = await createTinkerClient();
const model = await client.createModel({ baseModel: "builtin:shop-tiny", rank: 8, seed: 1 });

// "How much do 3 plates cost?" as a user's turn, and "96" as the assistant's; ids of the model's
// tokenizer.
const prompt = [508, 332, 51, 465, 509, 10, 508, 314];
const answer = [57, 54, 509];
const tokens = Int32Array.from([...prompt, ...answer]);
const datum = {
  tokens: tokens.slice(0, -1),
  lossInputs: {
    target_tokens: createIdTensor(tokens.slice(1)),
    // The answer counts, the question does not.
    weights: createFloatTensor(
      Float32Array.from(tokens.slice(1), (_, i) => +(i >= prompt.length - 1)),
    ),
  },
};

for (let step = 1; step <= 20; step++) {
  // Sent together, in order; neither waits for the other's result.
  const [{ metrics }] = await Promise.all([
    model.forwardBackward([datum], "cross_entropy"),
    model.optimStep({ learningRate: 0.01 }),
  ]);
  console.log(`step ${step}  loss ${metrics["loss:sum"]?.toFixed(3)}`);
}

const sampler = await model.createSampler();
const end = answer.at(-1)!;
const { sequences } = await sampler.sample(Int32Array.from(prompt), {
  maxTokens: 8,
  temperature: 0,
  stop: [end],
});
console.log("says", sequences[0]?.tokens.join(" "), "for", answer.join(" "));
console.log("kept as", await model.saveState(`lesson-${Date.now()}`));
