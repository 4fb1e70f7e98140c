/**
 * A small run of the coin policy in a process that is going to be killed. Says `started` when the
 * first event comes, so that time is not spent on killing what has not begun.
 */
import type { Task } from "../../../src/core/task.ts";
import type { AgentConfig } from "../../../src/core/agent.ts";
import { coinBackend } from "../coin-backend.ts";
import { coinAgent, coinTasks, coinTrainer } from "../coin-run.ts";

export interface CrashRun {
  readonly outputDir: string;
  readonly steps: number;
  /** How long saving a checkpoint takes at least. @default 0 */
  readonly saveMs?: number;
  /** How long a rollout takes at most. @default 3 */
  readonly rolloutMs?: number;
  readonly set: Readonly<Record<string, unknown>>;
}

/** Rollouts of uneven length, so that with several at a time their ends come in any order. */
async function unevenAgent(task: Task, config: AgentConfig): Promise<string> {
  const answer = await coinAgent(task, config);
  await new Promise((resolve) =>
    setTimeout(
      resolve,
      run.rolloutMs === undefined
        ? (task.instruction.length + answer.length) % 3
        : run.rolloutMs * Math.random(),
    ),
  );
  return answer;
}

const run = JSON.parse(process.argv[2] ?? "") as CrashRun;
const backend = coinBackend(run.saveMs === undefined ? {} : { saveMs: run.saveMs });
const { trainer } = coinTrainer({
  backend,
  outputDir: run.outputDir,
  resume: "auto",
  agentFlow: unevenAgent,
  valDataset: coinTasks.slice(0, 2),
  onEvent: ({ type }) => {
    if (type === "run-start") process.stdout.write("started\n");
  },
  set: {
    "trainer.total_batches": run.steps,
    "trainer.test_freq": 4,
    "trainer.save_freq": 1,
    "trainer.keep_best": true,
    "training.learning_rate": 0.1,
    ...run.set,
  },
});
const result = await trainer.train();
process.stdout.write(`${JSON.stringify({ ...result, weight: backend.weight })}\n`);
