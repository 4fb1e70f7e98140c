/**
 * GRPO by hand, on the public API: sample, score, compare, make rows, update. The task is that of
 * `quickstart.ts`: look a price up instead of guessing it. Takes about fifteen seconds.
 */
import {
  defaultLoss,
  defaultOptim,
  defaultSampling,
  type ChatMessage,
  type Sample,
  type ToolDefinition,
  type TrainingRow,
} from "agent-trainer/backend";
import { createLocalBackend } from "agent-trainer/local";

const steps = 12;
const groupSize = 8;
const items = ["mug", "plate", "clock", "shirt", "pen", "book", "hat", "desk"];

const parameters = { type: "object", properties: { item: { type: "string" } } };
const tools: ToolDefinition[] = [{ name: "get_price", parameters }];

await using backend = createLocalBackend();
const target = await backend.start({
  seed: 1,
  model: { name: "builtin:shop-tiny", lora: null },
  signal: new AbortController().signal,
});
if (target.kind !== "sampler") throw new Error("The local backend samples in this process.");
const { sampler, renderer } = target;

/** [group] completions of one prompt, with the log-probability of every sampled token. */
async function rollOut(prompt: Int32Array, seed: number): Promise<readonly Sample[]> {
  const stopTokenIds = renderer.stop.tokenIds;
  const params = { ...defaultSampling, maxTokens: 64, stopTokenIds, seed };
  return await sampler.sample({ tokens: prompt, params, n: groupSize });
}

function rewardOf({ tokens }: Sample): number {
  return renderer.parse(tokens).toolCalls.length === 1 ? 1 : 0;
}

/** One sequence: the prompt is context, every sampled token is a target. */
function toRow(item: string, index: number, prompt: Int32Array, sample: Sample, advantage: number) {
  const start = prompt.length;
  const end = start + sample.tokens.length;
  const row: TrainingRow = {
    tokens: new Int32Array([...prompt, ...sample.tokens]),
    targetMask: new Uint8Array(end).fill(1, start),
    samplingLogprobs: new Float32Array([...new Float32Array(start), ...sample.logprobs]),
    advantages: new Float32Array(end).fill(advantage, start),
    segments: [{ start, end, kind: "response", traceId: "", weightVersion: sample.weightVersion }],
    provenance: {
      taskId: item,
      episodeId: `${item}/${index}`,
      rolloutIndex: index,
      trajectoryUid: `${item}/${index}`,
      trajectoryName: "agent",
    },
  };
  return row;
}

for (let step = 1; step <= steps; step++) {
  const rows: TrainingRow[] = [];
  const allRewards: number[] = [];
  const groups = items.map(async (item, i) => {
    const messages: ChatMessage[] = [
      { role: "system", content: "You are a shop assistant." },
      { role: "user", content: `How much do 3 ${item}s cost?` },
    ];
    const prompt = renderer.render(messages, { tools }).tokens;
    return { item, prompt, samples: await rollOut(prompt, step * items.length + i) };
  });
  for (const { item, prompt, samples } of await Promise.all(groups)) {
    // arXiv:2402.03300: the advantage is the reward minus the group's mean, divided by its
    // standard deviation.
    const rewards = samples.map(rewardOf);
    const mean = rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length;
    const std = Math.sqrt(rewards.reduce((sum, r) => sum + (r - mean) ** 2, 0) / rewards.length);
    allRewards.push(...rewards);
    if (std === 0) continue; // All rewards are equal: there is no signal.
    for (const [index, sample] of samples.entries()) {
      rows.push(toRow(item, index, prompt, sample, ((rewards[index] ?? 0) - mean) / std));
    }
  }
  const reward = allRewards.reduce((sum, value) => sum + value, 0) / allRewards.length;
  console.log(step, reward.toFixed(3));
  if (rows.length === 0) continue;
  await backend.updatePolicy(rows, defaultLoss, { ...defaultOptim, learningRate: 1e-3 });
  await backend.publishWeights();
}
