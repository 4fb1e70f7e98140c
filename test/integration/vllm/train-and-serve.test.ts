/** The embedded engine trains what real vLLM serves: weights change between steps, and vLLM follows. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import OpenAI from "openai";
import { afterAll, beforeAll, expect, it } from "vitest";
import { AgentTrainer } from "../../../src/launch/agent-trainer.ts";
import { vllmBackend } from "./vllm-backend.ts";
import { startVllm, type VllmServer } from "./vllm-server.ts";

const folder = mkdtempSync(join(tmpdir(), "train-and-serve-"));
let vllm: VllmServer;
beforeAll(async () => {
  vllm = await startVllm(8462);
});
afterAll(async () => {
  await vllm?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

/** Share of letters of the Latin alphabet: a random model writes all scripts. */
function score(text: string): number {
  const characters = [...text];
  const latin = characters.filter((each) => /[a-z]/iu.test(each)).length;
  return characters.length === 0 ? 0 : latin / characters.length;
}

it("learns, and samples from the weights that are trained", { timeout: 1_200_000 }, async () => {
  await using backend = vllmBackend(vllm, folder);
  const trainer = new AgentTrainer({
    backend,
    agentFlow: async (task, { baseUrl, apiKey, model }) => {
      const client = new OpenAI({ baseURL: baseUrl, apiKey, maxRetries: 0 });
      const messages = [{ role: "user" as const, content: task.instruction }];
      const { choices } = await client.chat.completions.create({ model, messages });
      return choices[0]?.message.content ?? "";
    },
    evaluator: (_task, episode) => score(String(episode.output)),
    trainDataset: ["a", "b", "c", "d"].map((id) => ({ id, instruction: `Say ${id}` })),
    config: {
      "model.name": vllm.modelFolder,
      "data.train_batch_size": 4,
      "rollout.n": 16,
      "rollout.train.max_tokens": 16,
      "training.learning_rate": 1e-2,
      "trainer.total_batches": 15,
      "trainer.save_freq": 0,
      "trainer.output_dir": folder,
    },
  });
  const rewards: number[] = [];
  for await (const event of trainer.events()) {
    if (event.type !== "step-end") continue;
    rewards.push(event.metrics["reward/mean"] ?? Number.NaN);
    // Were vLLM a step behind, it would be off by as much as a step changes.
    expect(event.metrics["train/logprob_abs_diff_mean"]).toBeLessThan(1e-3);
    expect(event.metrics["weight_version"]).toBe(event.step);
  }
  console.info(`reward ${rewards.map((reward) => reward.toFixed(3)).join(" ")}`);
  const [first = Number.NaN] = rewards;
  expect(rewards.at(-1)).toBeGreaterThan(first + 0.1);
});
