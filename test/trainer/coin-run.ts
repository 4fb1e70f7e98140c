/** A small run of the coin policy through the real gateway, and what it left on disk. */
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AgentConfig } from "../../src/core/agent.ts";
import type { TrainerEvent } from "../../src/core/events.ts";
import type { Task } from "../../src/core/task.ts";
import type { Episode } from "../../src/core/trajectory.ts";
import { AgentTrainer } from "../../src/launch/agent-trainer.ts";
import type { AgentTrainerOptions } from "../../src/launch/trainer-options.ts";
import { coinBackend } from "./coin-backend.ts";

export const coinTasks: readonly Task[] = Array.from({ length: 5 }, (_, i) => ({
  id: `task-${i}`,
  instruction: `Question ${i}: yes or no?`,
  metadata: {},
}));

export async function coinAgent(task: Task, config: AgentConfig): Promise<string> {
  const response = await fetch(`${config.baseUrl}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${config.apiKey}` },
    body: JSON.stringify({
      model: config.model,
      messages: [{ role: "user", content: task.instruction }],
    }),
    signal: config.signal,
  });
  if (!response.ok) throw new Error(`HTTP ${response.status}: ${await response.text()}`);
  const body = (await response.json()) as { choices: { message: { content: string } }[] };
  return body.choices[0]?.message.content ?? "";
}

export const coinEvaluator = (_task: Task, episode: Episode): boolean => episode.output === "yes";

export function coinConfig(outputDir: string): Record<string, unknown> {
  return {
    "model.name": "coin",
    // Tests validate on training tasks.
    "dataset.leak_check": false,
    "data.train_batch_size": 2,
    "rollout.n": 4,
    "training.learning_rate": 0.5,
    "trainer.total_batches": 4,
    "trainer.output_dir": outputDir,
    "trainer.experiment_name": "coin",
    "workflow.retry_limit": 0,
  };
}

/** A new folder for runs. */
export const newFolder = (): string => mkdtempSync(join(tmpdir(), "agent-trainer-"));

/** Any options, also those that the types refuse. */
type AnyOptions = { readonly [K in keyof AgentTrainerOptions]?: AgentTrainerOptions[K] };

export type CoinTrainerOptions = Omit<AnyOptions, "config"> & {
  readonly outputDir?: string;
  readonly set?: Record<string, unknown>;
};

/** A trainer with everything in place, and the events that it gives off. */
export function coinTrainer(options: CoinTrainerOptions = {}): {
  trainer: AgentTrainer;
  events: TrainerEvent[];
} {
  const { outputDir = newFolder(), set, ...rest } = options;
  const events: TrainerEvent[] = [];
  const trainer = new AgentTrainer({
    backend: coinBackend(),
    agentFlow: coinAgent,
    evaluator: coinEvaluator,
    trainDataset: coinTasks,
    config: { ...coinConfig(outputDir), ...set },
    ...rest,
    onEvent: (event: TrainerEvent) => {
      events.push(event);
      rest.onEvent?.(event);
    },
  } as object as AgentTrainerOptions);
  return { trainer, events };
}

export type Line = Readonly<Record<string, unknown>>;

export function readLines(...path: string[]): Line[] {
  return readFileSync(join(...path), "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line);
}

/** A line of `metrics.jsonl` without what depends on the clock. */
export function withoutClock(line: Line): Line {
  return Object.fromEntries(
    Object.entries(line).filter(([key]) => !key.startsWith("time/") && !key.endsWith("per_s")),
  );
}
