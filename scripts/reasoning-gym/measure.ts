/** One family: examples, then rollouts, and the same held-out tasks before, between and after. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AgentTrainer } from "agent-trainer";
import { evaluate, type EvaluationItem } from "agent-trainer/evaluate";
import { fineTune } from "agent-trainer/finetune";
import { groupBy } from "../../src/util/group-by.ts";

/** A question with its right answer. */
export interface Example {
  readonly prompt: string;
  readonly completion: string;
}

/** What `prepare.py` says about a family. */
export interface Prepared {
  readonly examples: readonly Example[];
  readonly constant: Row["constant"];
}

/** A mean reward on the held-out tasks. */
export interface Mean {
  readonly mean: number;
  /** Standard error over tasks. */
  readonly error: number;
}

/** What became of one family. */
export interface Row {
  readonly family: string;
  readonly heldOut: number;
  readonly untrained: Mean;
  readonly examples: Mean;
  readonly rollouts: Mean;
  /** Of rollouts over examples, with the standard error of paired differences. */
  readonly gain: Mean;
  /** The best of the frequent answers of the examples, given to every held-out task. */
  readonly constant: Mean & { readonly answer: string };
  readonly seconds: { readonly examples: number; readonly rollouts: number };
  /** Mean reward of the rollouts of each step. */
  readonly curve: readonly number[];
}

/** What is the same for all families. */
export const setup = {
  model: "builtin:shop-tiny",
  /** The one that the built-in model was made with. */
  system: "You are a shop assistant.",
  /** Tasks of each split. */
  size: 1024,
  examples: { steps: 64, batch: 32, learningRate: 2e-3 },
  rollouts: { steps: 30, tasks: 8, n: 8, learningRate: 1.5e-3, maxTokens: 16 },
  schedule: { lrSchedule: "cosine", warmupStepsRatio: 0.1 },
  heldOut: { tasks: 128, n: 4 },
  constants: 256,
  seed: 0,
} as const;

const environment = { valSplit: "test", systemPrompt: setup.system };
const sampling = { maxTokens: setup.rollouts.maxTokens };

async function heldOutRewards(env: string, model: string, n: number = setup.heldOut.n) {
  const { items } = await evaluate({
    env,
    model,
    n,
    limit: setup.heldOut.tasks,
    seed: setup.seed,
    // At the temperature of training.
    config: {
      model: { name: setup.model },
      environment,
      rollout: { val: { ...sampling, temperature: 1 } },
    },
  });
  return byTask(items);
}

/** Mean rewards, task by task. */
function byTask(items: readonly EvaluationItem[]): readonly number[] {
  const tasks = groupBy(items, ({ id }) => id);
  return Array.from(tasks.values(), (own) => {
    if (own.some(({ reward }) => reward === null)) throw new Error(JSON.stringify(own));
    return own.reduce((sum, { reward }) => sum + (reward ?? 0), 0) / own.length;
  });
}

function meanOf(values: readonly number[]): Mean {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { mean, error: Math.sqrt(squares / (values.length - 1) / values.length) };
}

async function fromExamples(rows: readonly Example[], outputDir: string): Promise<string> {
  const { steps, batch, learningRate } = setup.examples;
  const { runDir } = await fineTune({
    config: {
      model: { name: setup.model },
      data: { trainBatchSize: batch },
      training: { learningRate, ...setup.schedule },
      trainer: { totalBatches: steps, saveFreq: 0, outputDir, seed: setup.seed },
    },
    train: rows.map(({ prompt, completion }) => ({
      messages: [
        { role: "system", content: setup.system },
        { role: "user", content: prompt },
        { role: "assistant", content: completion },
      ],
    })),
  });
  return runDir;
}

async function fromRollouts(env: string, model: string, outputDir: string) {
  const { steps, tasks, n, learningRate } = setup.rollouts;
  const curve: number[] = [];
  const trainer = new AgentTrainer({
    env,
    config: {
      model: { name: model },
      data: { trainBatchSize: tasks },
      environment: { systemPrompt: setup.system },
      rollout: { n, train: sampling },
      training: { learningRate, ...setup.schedule },
      trainer: { totalBatches: steps, saveFreq: 0, outputDir, seed: setup.seed },
    },
    onEvent(event) {
      if (event.type === "step-end") curve.push(event.metrics["reward/mean"] ?? 0);
    },
  });
  const { runDir } = await trainer.train();
  return { runDir, curve };
}

async function timed<T>(run: () => Promise<T>): Promise<{ value: T; seconds: number }> {
  const begun = performance.now();
  const value = await run();
  return { value, seconds: Math.round((performance.now() - begun) / 1000) };
}

/** Trains on one family. `env` has its tasks. */
export async function measure(
  family: string,
  env: string,
  { examples: rows, constant }: Prepared,
): Promise<Row> {
  const folder = mkdtempSync(join(tmpdir(), `reasoning-gym-${family}-`));
  try {
    const log = (what: string, rewards: readonly number[]) =>
      console.error(`${family} ${what}: ${meanOf(rewards).mean.toFixed(3)}`);
    const untrained = await heldOutRewards(env, setup.model, 1);
    log("untrained", untrained);
    const taught = await timed(() => fromExamples(rows, join(folder, "examples")));
    const before = await heldOutRewards(env, taught.value);
    log("after examples", before);
    const trained = await timed(() => fromRollouts(env, taught.value, join(folder, "rollouts")));
    const after = await heldOutRewards(env, trained.value.runDir);
    log("after rollouts", after);
    return {
      family,
      heldOut: after.length,
      untrained: meanOf(untrained),
      examples: meanOf(before),
      rollouts: meanOf(after),
      gain: meanOf(after.map((reward, i) => reward - (before[i] ?? 0))),
      constant,
      seconds: { examples: taught.seconds, rollouts: trained.seconds },
      curve: trained.value.curve,
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
