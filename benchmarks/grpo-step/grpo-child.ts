/** Our side of `grpo-step`: an engine that makes one step of GRPO when it is told to. */
import { createInterface } from "node:readline";
import { defaultLoss, defaultOptim } from "../../src/core/loss/loss.ts";
import { defaultSampling, type Sample } from "../../src/core/policy.ts";
import type { TrainingRow } from "../../src/core/loss/training-row.ts";
import type { PolicyEngine } from "../../src/engine/policy-engine.ts";
import { createRandom } from "../../src/util/random.ts";
import type { ModelCase } from "../engine/models.ts";
import { openEngine } from "../engine/open-engine.ts";
import { peakMiB } from "../harness/child-side.ts";
import { mean } from "../harness/statistics.ts";
import type { StepSize } from "./grpo-step.ts";

let engine: PolicyEngine;
let vocabSize: number;
const random = createRandom(1);

/** Something to tell completions apart by: the share of even ids. */
const rewardOf = ({ tokens }: Sample): number => mean([...tokens].map((id) => 1 - (id % 2)));

function rowOf(prompt: Int32Array, sample: Sample, advantage: number): TrainingRow {
  const length = prompt.length + sample.tokens.length;
  const samplingLogprobs = new Float32Array(length);
  samplingLogprobs.set(sample.logprobs, prompt.length);
  return {
    tokens: Int32Array.from([...prompt, ...sample.tokens]),
    targetMask: new Uint8Array(length).fill(1, prompt.length),
    samplingLogprobs,
    advantages: new Float32Array(length).fill(advantage, prompt.length),
    segments: [],
    provenance: {
      taskId: "bench",
      episodeId: "bench",
      rolloutIndex: 0,
      trajectoryUid: "bench",
      trajectoryName: "agent",
    },
  };
}

async function step({ prompts, rollouts, promptTokens, newTokens }: StepSize): Promise<object> {
  const asked = Array.from({ length: prompts }, () =>
    Int32Array.from({ length: promptTokens }, () => Math.floor(random() * vocabSize)),
  );
  const params = { ...defaultSampling, maxTokens: newTokens, stopTokenIds: [] };
  const start = performance.now();
  const groups = await Promise.all(
    asked.map((tokens, seed) =>
      engine.sample({ tokens, n: rollouts, params: { ...params, seed } }),
    ),
  );
  const sampled = performance.now();
  const rows = groups.flatMap((samples, i) => {
    const rewards = samples.map(rewardOf);
    const middle = mean(rewards);
    const spread = Math.sqrt(mean(rewards.map((reward) => (reward - middle) ** 2)));
    return samples.map((sample, k) =>
      rowOf(asked[i]!, sample, (rewards[k]! - middle) / (spread + 1e-6)),
    );
  });
  await engine.forwardBackward(rows, defaultLoss);
  await engine.optimStep({ ...defaultOptim, learningRate: 1e-6 });
  await engine.publish();
  return {
    seconds: (performance.now() - start) / 1000,
    samplingSeconds: (sampled - start) / 1000,
  };
}

async function open({ model }: { readonly model: ModelCase }): Promise<object> {
  engine = await openEngine(model);
  vocabSize = model.vocabSize;
  return {};
}

for await (const line of createInterface({ input: process.stdin })) {
  const { do: name, ...input } = JSON.parse(line) as { readonly do: "open" | "step" };
  const answer = await (name === "open"
    ? open(input as unknown as { readonly model: ModelCase })
    : step(input as unknown as StepSize));
  process.stdout.write(`${JSON.stringify({ ...answer, peakMiB: peakMiB() })}\n`);
}
