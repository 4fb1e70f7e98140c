/** Steps with a backend that takes no time, in a process of their own: all that is left is ours. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AgentConfig } from "../../src/core/agent.ts";
import type { Task } from "../../src/core/task.ts";
import { AgentTrainer } from "../../src/launch/agent-trainer.ts";
import { answer, peakMiB } from "../harness/child-side.ts";
import { instantBackend } from "./instant-backend.ts";

export interface OverheadInput {
  readonly rollouts: number;
  readonly tokens: number;
  readonly steps: number;
}

export interface OverheadOutput {
  /** Of each step but the first. */
  readonly stepS: readonly number[];
  /** From the end of rollouts to the end of the step. */
  readonly updateS: readonly number[];
  readonly cpuS: readonly number[];
  readonly peakMiB: number;
}

const perTask = 8;

/** One call, as an agent with a client would make it. */
async function agent(task: Task, config: AgentConfig): Promise<string> {
  const response = await fetch(`${config.baseUrl}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${config.apiKey}` },
    body: JSON.stringify({ messages: [{ role: "user", content: task.instruction }] }),
  });
  const body = (await response.json()) as { choices: { message: { content: string } }[] };
  return body.choices[0]?.message.content ?? "";
}

answer(async ({ rollouts, tokens, steps }: OverheadInput): Promise<OverheadOutput> => {
  const outputDir = mkdtempSync(join(tmpdir(), "agent-trainer-bench-"));
  const stepS: number[] = [];
  const updateS: number[] = [];
  const cpuS: number[] = [];
  let cpu = process.cpuUsage();
  const trainer = new AgentTrainer({
    backend: instantBackend(tokens),
    agentFlow: agent,
    // Every group has something to compare.
    evaluator: (_task, { rolloutIndex }) => rolloutIndex % 2,
    trainDataset: Array.from({ length: rollouts / perTask }, (_, i) => ({
      id: `task-${i}`,
      instruction: `Question ${i}`,
      metadata: {},
    })),
    config: {
      "model.name": "instant",
      "rollout.n": perTask,
      "rollout.train.max_tokens": tokens,
      "data.train_batch_size": rollouts / perTask,
      "trainer.total_batches": steps,
      "trainer.save_freq": 0,
      "trainer.output_dir": outputDir,
    },
    onEvent(event) {
      if (event.type !== "step-end") return;
      const used = process.cpuUsage(cpu);
      cpu = process.cpuUsage();
      if (event.step === 1) return;
      stepS.push(event.metrics["time/step_s"] ?? 0);
      updateS.push(event.metrics["time/update_s"] ?? 0);
      cpuS.push((used.user + used.system) / 1e6);
    },
  });
  try {
    await trainer.train();
  } finally {
    rmSync(outputDir, { recursive: true, force: true });
  }
  return { stepS, updateS, cpuS, peakMiB: peakMiB() };
});
