/**
 * GRPO by hand, on the public API: sample, score, compare, make rows, update. The task is that of
 * `quickstart.ts`: look a price up instead of guessing it. Takes about fifteen seconds.
 */
import * as trainer from "agent-trainer/backend";
import { createLocalBackend } from "agent-trainer/local";

const items = ["mug", "plate", "clock", "shirt", "pen", "book", "hat", "desk"];
const parameters = { type: "object", properties: { item: { type: "string" } } };
const tools = [{ name: "get_price", parameters }];

await using backend = createLocalBackend();
const target = await backend.start({
  seed: 1,
  model: { name: "builtin:shop-tiny", lora: null },
  signal: new AbortController().signal,
});
if (target.kind !== "sampler") throw new Error("The local backend samples in this process.");
const { sampler, renderer } = target;

/** Eight completions of one prompt, with the log-probability of every sampled token. */
async function rollOut(item: string, seed: number) {
  const messages: trainer.ChatMessage[] = [
    { role: "system", content: "You are a shop assistant." },
    { role: "user", content: `How much do 3 ${item}s cost?` },
  ];
  const { tokens } = renderer.render(messages, { tools });
  const { tokenIds: stopTokenIds } = renderer.stop;
  const params = { ...trainer.defaultSampling, maxTokens: 64, stopTokenIds, seed };
  return { item, prompt: tokens, samples: await sampler.sample({ tokens, params, n: 8 }) };
}

type Group = Awaited<ReturnType<typeof rollOut>>;

const rewardOf = ({ tokens }: trainer.Sample) =>
  renderer.parse(tokens).toolCalls.length === 1 ? 1 : 0;

const mean = (values: number[]) => values.reduce((sum, x) => sum + x, 0) / values.length;

/** One sequence: the prompt is context, every sampled token is a target. */
function toRow({ item, prompt }: Group, i: number, sample: trainer.Sample, advantage: number) {
  const start = prompt.length;
  const end = start + sample.tokens.length;
  const uid = `${item}/${i}`;
  const origin = { taskId: item, rolloutIndex: i, episodeId: uid, trajectoryUid: uid };
  const row: trainer.TrainingRow = {
    tokens: Int32Array.of(...prompt, ...sample.tokens),
    targetMask: new Uint8Array(end).fill(1, start),
    samplingLogprobs: Float32Array.of(...new Float32Array(start), ...sample.logprobs),
    advantages: new Float32Array(end).fill(advantage, start),
    segments: [{ start, end, kind: "response", traceId: "", weightVersion: sample.weightVersion }],
    provenance: { ...origin, trajectoryName: "agent" },
  };
  return row;
}

for (let step = 1; step <= 12; step++) {
  const groups = await Promise.all(items.map((item, i) => rollOut(item, step * items.length + i)));
  const rows: trainer.TrainingRow[] = [];
  for (const group of groups) {
    // arXiv:2402.03300: the advantage is the reward minus the mean of the group, divided by its
    // standard deviation; where all rewards are equal, there is no signal.
    const rewards = group.samples.map(rewardOf);
    const std = Math.sqrt(mean(rewards.map((reward) => (reward - mean(rewards)) ** 2)));
    if (std === 0) continue;
    for (const [i, sample] of group.samples.entries())
      rows.push(toRow(group, i, sample, (rewardOf(sample) - mean(rewards)) / std));
  }
  console.log(step, mean(groups.flatMap(({ samples }) => samples.map(rewardOf))).toFixed(3));
  if (rows.length === 0) continue;
  const optim = { ...trainer.defaultOptim, learningRate: 1e-3 };
  await backend.updatePolicy(rows, trainer.defaultLoss, optim);
  await backend.publishWeights();
}
