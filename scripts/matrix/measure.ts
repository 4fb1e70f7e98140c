/** What a row measures: calls made and captured under load, and the reward of a short training. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { evaluator } from "../../examples/shop/evaluator.ts";
import { makeTasks } from "../../examples/shop/tasks.ts";
import { httpAgent } from "../../src/agents/index.ts";
import { createGateway } from "../../src/gateway/index.ts";
import { AgentTrainer } from "../../src/index.ts";
import { flowProgram } from "../../src/rollout/programs/function-programs.ts";
import { defaultRolloutLimits } from "../../src/rollout/rollout-request.ts";
import { createRolloutRunner } from "../../src/rollout/runner.ts";
import { createScriptedTarget } from "../../src/testing/index.ts";

const concurrency = 16;

export interface Capture {
  readonly calls: number;
  readonly captured: number;
  readonly misattributed: number;
  /** What the first failed rollout says. */
  readonly error: string | null;
}

/** `tool`: what the model calls. */
function script(tool: string): (call: { readonly text: string }) => string {
  const call = `<tool_call>\n${JSON.stringify({ name: tool, arguments: { item: "lamp" } })}\n</tool_call>`;
  return ({ text }) => (text.includes("PRICE-") ? "It costs what the tool said." : call);
}

/** Rollouts of two calls each, 16 at a time, in one process of the framework. */
export async function measureCapture(
  url: string,
  rollouts: number,
  tool: string,
): Promise<Capture> {
  const made = async (): Promise<number> => {
    const response = await fetch(new URL("/calls", url));
    return ((await response.json()) as { calls: number }).calls;
  };
  await using gateway = createGateway({
    target: createScriptedTarget(script(tool), { keepRequests: false, contextLength: 1_000_000 }),
    model: "scripted",
  });
  await gateway.listen();
  const runner = createRolloutRunner({
    host: gateway.sessions,
    program: flowProgram(httpAgent({ url })),
    evaluator: () => true,
    untrainedRoles: [],
    limits: { ...defaultRolloutLimits, concurrency, timeoutMs: 120_000, retries: 0 },
  });
  const before = await made();
  const requests = Array.from({ length: rollouts }, (_, i) => ({
    task: {
      id: `[task-${i}]`,
      instruction: `[task-${i}] How much is a lamp?`,
      metadata: { item: "lamp", price: `PRICE-${i}` },
    },
    rolloutIndex: 0,
    episodeId: `1/${i}/0`,
    seed: i,
  }));
  const episodes = await runner.run(requests, {
    sampling: { temperature: 1, maxTokens: 4096 },
    isValidation: false,
    signal: new AbortController().signal,
    onEvent: () => {},
  });
  const steps = episodes.flatMap(({ task, trajectories }) =>
    trajectories.flatMap((one) => one.steps.map(({ trace }) => ({ id: task.id, trace }))),
  );
  return {
    calls: (await made()) - before,
    captured: steps.length,
    misattributed: steps.filter(({ id, trace }) => !JSON.stringify(trace.messages).includes(id))
      .length,
    error:
      episodes.find(({ error }) => error !== null && error !== undefined)?.error?.message ?? null,
  };
}

/** The mean reward of the first and the last third of the steps. */
export async function measureTraining(
  url: string,
  steps: number,
): Promise<{ readonly rewardFirst: number; readonly rewardLast: number }> {
  const rewards: number[] = [];
  const trainer = new AgentTrainer({
    agentFlow: httpAgent({ url }),
    evaluator: evaluator as never,
    trainDataset: makeTasks("train", 512) as never,
    config: {
      model: { name: "builtin:shop-tiny", loraRank: 0 },
      data: { trainBatchSize: 8 },
      rollout: { n: 8, train: { maxTokens: 64 } },
      training: { learningRate: 7e-4, lrSchedule: "linear" },
      trainer: {
        totalBatches: steps,
        testFreq: 0,
        valBeforeTrain: false,
        outputDir: mkdtempSync(join(tmpdir(), "matrix-")),
      },
      workflow: { nParallelTasks: concurrency },
    },
    onEvent: (event) => {
      if (event.type === "step-end") rewards.push(event.metrics["reward/mean"] ?? 0);
    },
  });
  await trainer.train();
  const mean = (some: readonly number[]): number =>
    some.reduce((sum, one) => sum + one, 0) / Math.max(1, some.length);
  const third = Math.max(1, Math.floor(rewards.length / 3));
  return { rewardFirst: mean(rewards.slice(0, third)), rewardLast: mean(rewards.slice(-third)) };
}
