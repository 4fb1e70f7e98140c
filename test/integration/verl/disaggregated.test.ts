/** Servers on places of their own: they answer during updates, and rollouts overlap with training, a critic's too. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import type { VerlBackend } from "../../../src/backends/verl/index.ts";
import { defaultOptim } from "../../../src/core/loss/loss.ts";
import type { TrainingRow } from "../../../src/core/loss/training-row.ts";
import { AgentTrainer } from "../../../src/launch/agent-trainer.ts";
import { coinAgent, coinTasks, readLines } from "../../trainer/coin-run.ts";
import { areAlive, descendants } from "./processes.ts";
import { disaggregated, modelFolder, verlOnCpu } from "./verl-on-cpu.ts";

const steps = 6;
const optim = { ...defaultOptim, learningRate: 1e-2 };
const maxTokens = 4;

let backend: VerlBackend | undefined;
afterEach(() => backend?.[Symbol.asyncDispose]());

/** The log-probability of a token after a prompt, as a server gives it. */
async function sampled(url: string, prompt: readonly number[]): Promise<[number, number]> {
  const body = { prompt, max_tokens: 1, temperature: 0 };
  const response = await fetch(`${url}/v1/completions`, {
    method: "POST",
    body: JSON.stringify(body),
  });
  const { choices } = (await response.json()) as {
    choices: [{ token_ids: [number]; logprobs: { token_logprobs: [number] } }];
  };
  return [choices[0].token_ids[0], choices[0].logprobs.token_logprobs[0]];
}

/** One token under the weights that train. */
async function trained(of: VerlBackend, prompt: readonly number[], token: number): Promise<number> {
  const length = prompt.length + 1;
  const row: TrainingRow = {
    tokens: Int32Array.from([...prompt, token]),
    targetMask: Uint8Array.from({ length }, (_, at) => (at === prompt.length ? 1 : 0)),
    samplingLogprobs: new Float32Array(length),
    advantages: new Float32Array(length),
    segments: [],
    provenance: {
      ...{ taskId: "t", episodeId: "e", rolloutIndex: 0 },
      ...{ trajectoryUid: "u", trajectoryName: "default" },
    },
  };
  return (await of.forward([row]))[0]?.[prompt.length] as number;
}

it("answers during updates with the weights of before, and trains on rollouts of one version ago", async () => {
  const outputDir = mkdtempSync(join(tmpdir(), "agent-trainer-verl-"));
  const run = {
    optim,
    batchSize: 2,
    groupSize: 4,
    temperature: 1,
    topP: 1,
    topK: 0,
    maxTokens,
    critic: true,
  };
  const verl = verlOnCpu(run, disaggregated);
  backend = verl;
  let url = "";
  const start = verl.start.bind(verl);
  verl.start = async (context) => {
    const target = await start(context);
    url = (target.workers[0] as { url: string }).url;
    return target;
  };
  const prompt = [5, 6, 7, 8];
  const duringUpdates: number[] = [];
  const update = verl.updatePolicy.bind(verl);
  verl.updatePolicy = async (...given) => {
    const before = await sampled(url, prompt);
    let isDone = false;
    const updating = update(...given).finally(() => (isDone = true));
    let answers = 0;
    for (;;) {
      const now = await sampled(url, prompt);
      if (isDone) break;
      expect(now).toEqual(before);
      answers++;
    }
    duringUpdates.push(answers);
    return updating;
  };
  const gaps: number[] = [];
  const publish = verl.publishWeights.bind(verl);
  verl.publishWeights = async () => {
    const [token, before] = await sampled(url, prompt);
    const version = await publish();
    const wanted = await trained(verl, prompt, token);
    const serves = await sampled(url, prompt);
    if (serves[0] === token) expect(Math.abs(serves[1] - wanted)).toBeLessThan(1e-4);
    gaps.push(Math.abs(wanted - before));
    return version;
  };
  const trainer = new AgentTrainer({
    backend: verl,
    agentFlow: coinAgent,
    evaluator: (_task, { output }) => String(output).replaceAll(/[^aeiou]/gu, "").length / 4,
    trainDataset: coinTasks,
    config: {
      "model.name": modelFolder(),
      "data.train_batch_size": run.batchSize,
      "rollout.n": run.groupSize,
      "rollout.train.max_tokens": maxTokens,
      "training.learning_rate": optim.learningRate,
      "trainer.total_batches": steps,
      "trainer.output_dir": outputDir,
      "trainer.experiment_name": "overlapped",
      "async_training.enable": true,
      "async_training.staleness_threshold": 1,
      "algorithm.rollout_correction": "token",
      "algorithm.estimator": "gae",
    },
  });
  await expect(trainer.train()).resolves.toMatchObject({ status: "completed", steps });
  expect(duringUpdates.length).toBeGreaterThan(0);
  expect(Math.min(...duringUpdates)).toBeGreaterThan(0);
  // Weights did change, and arrived.
  expect(Math.max(...gaps)).toBeGreaterThan(1e-2);
  const lines = readLines(outputDir, "overlapped", "metrics.jsonl");
  const staleness = lines.map((line) => line["async/staleness_max"] as number);
  expect(Math.max(...staleness)).toBe(1);
  // The distance between sampling and training is measured before every update.
  for (const line of lines) expect(line["off_policy/kl_k1"]).toBeTypeOf("number");
  // So is the critic, which learns.
  for (const line of lines) expect(line["train/value_loss"]).toBeGreaterThan(0);
  expect(lines[0]).toMatchObject({ "critic/values/max": 0 });
  expect(lines.at(-1)!["critic/values/std"]).toBeGreaterThan(0);
  expect(lines.at(-1)).toMatchObject({ weight_version: steps });

  const started = [verl.pid as number, ...descendants(verl.pid as number)];
  expect(started.length).toBeGreaterThan(5);
  await verl[Symbol.asyncDispose]();
  if (process.platform === "linux") expect(areAlive(started)).toEqual([]);
});
