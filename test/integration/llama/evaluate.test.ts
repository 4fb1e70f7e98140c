/**
 * SmolLM2-135M-Instruct, trained a little to write orders as JSON: evaluations of a checkpoint through three
 * kinds of endpoint (ours, llama.cpp's server with the exported model, and a scripted one) give the scores of
 * the trainer's validations, before and after training.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import {
  evaluator,
  type Order,
  trainTasks,
  valTasks,
} from "../../../examples/real-model/orders.ts";
import { runCli } from "../../../src/cli/program.ts";
import type { AgentConfig } from "../../../src/core/agent.ts";
import type { Task } from "../../../src/core/task.ts";
import { evaluate } from "../../../src/launch/evaluate/evaluate.ts";
import type { EvaluationSummary } from "../../../src/runs/evaluations/summary.ts";
import { AgentTrainer } from "../../../src/launch/agent-trainer.ts";
import { createModelServer } from "../../../src/launch/serve/model-server.ts";
import { type Recorded, replay } from "../../evaluate/replay-server.ts";
import { readLines } from "../../trainer/coin-run.ts";
import { startLlamaServer } from "./llama-server.ts";
import { smollm2 } from "./smollm2.ts";

const folder = mkdtempSync(join(tmpdir(), "evaluate-llama-"));
afterAll(() => rmSync(folder, { recursive: true }));

const question =
  'Turn this order into a JSON object with the two keys "item" (a string) and "count" (a number): ';

async function agentFlow(task: Task<Order>, config: AgentConfig): Promise<string> {
  const { baseUrl, apiKey, model, signal } = config;
  const response = await fetch(`${baseUrl}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${apiKey}` },
    body: JSON.stringify({
      model,
      messages: [{ role: "user", content: question + task.instruction }],
    }),
    signal,
  });
  const { choices } = (await response.json()) as { choices: { message: { content: string } }[] };
  return choices[0]!.message.content;
}

const agent = { agentFlow, evaluator } as const;
const config = {
  model: { name: smollm2(), loraRank: 16 },
  data: { trainBatchSize: 4 },
  rollout: { n: 4, train: { maxTokens: 24 }, val: { maxTokens: 24, temperature: 0 } },
  training: { learningRate: 1e-3 },
  trainer: { totalBatches: 3, testFreq: 3, saveFreq: 3, outputDir: folder },
};

const scores = (metrics: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(
    Object.entries(metrics).filter(([name]) => /^val\/(?:reward|pass@)/u.test(name)),
  );

async function evaluated(model: string, temperature = 0, n = 1): Promise<EvaluationSummary> {
  const val = { ...config.rollout.val, temperature };
  const options = { ...config, rollout: { ...config.rollout, val } };
  const data = { dataset: valTasks, model, config: options, n } as const;
  return (await evaluate({ ...agent, ...data })).summary;
}

async function exported(model: string, name: string): Promise<string> {
  const into = join(folder, name);
  const quiet = { write: () => undefined };
  const args = ["model", "export", model, "--format", "gguf", "--dtype", "f32", "--into", into];
  expect(await runCli([...args, "--quiet"], { stdout: quiet, stderr: process.stderr })).toBe(0);
  return into;
}

it("gives the scores of validations", { timeout: 1_800_000 }, async () => {
  const { runDir, checkpoint } = await new AgentTrainer({
    ...agent,
    trainDataset: trainTasks,
    valDataset: valTasks,
    config,
  }).train();
  const [before, after] = readLines(runDir, "metrics.jsonl")
    .filter(({ phase }) => phase === "validation")
    .map(scores);
  const report: Record<string, unknown> = {};
  const note = (name: string, value: unknown): void => {
    report[name] = value;
    process.stderr.write(`${name}: ${JSON.stringify(value)}\n`);
  };
  note("validations of the trainer", [before, after]);
  expect(after, "training changed what is said").not.toEqual(before);

  const sampled: Record<string, EvaluationSummary> = {};
  note("checkpoint", scores((await evaluated(checkpoint!)).metrics));
  sampled["checkpoint"] = await evaluated(checkpoint!, 1, 2);
  {
    await using server = await createModelServer({ models: [checkpoint!] });
    note("agent-trainer serve", scores((await evaluated((await server.listen()).url)).metrics));
  }
  {
    const recorded = readFileSync(join(runDir, "episodes", "val-000003.jsonl"), "utf8");
    const episodes = recorded.trimEnd().split("\n");
    await using server = await replay(episodes.map((line) => JSON.parse(line) as Recorded));
    note("scripted server", scores((await evaluated(`${server.url}/v1`)).metrics));
  }
  {
    await using server = await startLlamaServer(await exported(smollm2(), "before.gguf"));
    note("llama.cpp before training", scores((await evaluated(`${server.url}/v1`)).metrics));
  }
  {
    await using server = await startLlamaServer(await exported(checkpoint!, "after.gguf"));
    note("llama.cpp", scores((await evaluated(`${server.url}/v1`)).metrics));
    sampled["llama.cpp"] = await evaluated(`${server.url}/v1`, 1, 2);
  }
  const rewards = Object.fromEntries(
    Object.entries(sampled).map(([name, { reward }]) => [name, reward]),
  );
  note("reward at temperature 1", rewards);
  for (const name of ["checkpoint", "agent-trainer serve", "scripted server", "llama.cpp"])
    expect(report[name], name).toEqual(after);
  expect(report["llama.cpp before training"]).toEqual(before);
  const [ours, theirs] = [rewards["checkpoint"]!, rewards["llama.cpp"]!];
  expect(Math.max(ours.low, theirs.low)).toBeLessThanOrEqual(Math.min(ours.high, theirs.high));
});
