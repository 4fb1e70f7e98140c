/** Evaluations over real vLLM and of a checkpoint give the scores of the trainer's validations. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createLocalBackend } from "../../../src/backends/local/index.ts";
import type { AgentConfig } from "../../../src/core/agent.ts";
import type { Task } from "../../../src/core/task.ts";
import type { Episode } from "../../../src/core/trajectory.ts";
import { evaluate } from "../../../src/evaluate/evaluate.ts";
import { AgentTrainer } from "../../../src/launch/agent-trainer.ts";
import { vllmBackend } from "./vllm-backend.ts";
import { startVllm, type VllmServer } from "./vllm-server.ts";

const folder = mkdtempSync(join(tmpdir(), "evaluate-vllm-"));
let vllm: VllmServer;
beforeAll(async () => {
  vllm = await startVllm(8463);
});
afterAll(async () => {
  await vllm?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

async function agentFlow(task: Task, { baseUrl, apiKey, model }: AgentConfig): Promise<string> {
  const response = await fetch(`${baseUrl}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${apiKey}` },
    body: JSON.stringify({ model, messages: [{ role: "user", content: task.instruction }] }),
  });
  const { choices } = (await response.json()) as { choices: { message: { content: string } }[] };
  return choices[0]!.message.content;
}

/** Depends on every letter, not on how servers decode half a character. */
function evaluator(_task: Task, { output }: Episode): { reward: number; isCorrect: boolean } {
  const letters = [...String(output).replaceAll(/[^a-z]/giu, "")];
  const sum = letters.reduce((all, letter, i) => all + letter.codePointAt(0)! * (i + 1), 0);
  return { reward: sum / 1000, isCorrect: sum % 2 === 0 };
}

it("before and after training", { timeout: 1_200_000 }, async () => {
  const tasks = ["a", "b", "c", "d", "e", "f"].map((id) => ({ id, instruction: `Say ${id}` }));
  const config = {
    "model.name": vllm.modelFolder,
    "data.train_batch_size": 4,
    "rollout.n": 8,
    "rollout.train.max_tokens": 16,
    "rollout.val.temperature": 0,
    "training.learning_rate": 1e-2,
    "dataset.leak_check": "none",
    "trainer.total_batches": 2,
    "trainer.save_freq": 1,
    "trainer.output_dir": folder,
  };
  const agent = { agentFlow, evaluator, dataset: tasks } as const;
  const scores = (metrics: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(
      Object.entries(metrics).filter(([name]) => /^val\/(?:reward|pass@)/u.test(name)),
    );
  const overHttp = async () =>
    scores((await evaluate({ ...agent, model: `${vllm.url}/v1`, config })).summary.metrics);
  const before = await overHttp();

  await using backend = vllmBackend(vllm, folder);
  const { agentFlow: _flow, dataset: _dataset, ...rest } = agent;
  const trained = await new AgentTrainer({
    ...rest,
    ...{ backend, agentFlow, trainDataset: tasks, valDataset: tasks, config },
  }).train();
  const validations = readFileSync(join(trained.runDir, "metrics.jsonl"), "utf8")
    .split("\n")
    .filter((line) => line.includes('"phase":"validation"'))
    .map((line) => scores(JSON.parse(line) as Record<string, unknown>));
  console.info(JSON.stringify(validations));
  expect(before).toEqual(validations[0]);
  expect(await overHttp()).toEqual(validations.at(-1));
  expect(validations.at(-1)).not.toEqual(validations[0]);

  await using local = createLocalBackend();
  const { summary } = await evaluate({
    ...agent,
    model: trained.checkpoint!,
    backend: local,
    config,
  });
  expect(scores(summary.metrics)).toEqual(validations.at(-1));
});
