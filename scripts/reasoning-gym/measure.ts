/** One family: the same held-out tasks before and after training on others. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AgentTrainer, evaluate, type EvaluationItem, fineTune } from "agent-trainer";
import { groupBy } from "../../src/util/group-by.ts";

/** A mean reward on the held-out tasks. */
export interface Mean {
  readonly mean: number;
  /** Standard error over tasks. */
  readonly error: number;
}

/** A task of another split with its answer. */
export interface Example {
  readonly prompt: string;
  readonly completion: string;
}

/** What became of one family. */
export interface Row {
  readonly family: string;
  readonly heldOut: number;
  /** Optimizer steps of fine-tuning on examples, before those on rollouts. */
  readonly exampleSteps: number;
  /** Of the published weights. */
  readonly published: Mean;
  /** Before the first rollout of training. */
  readonly before: Mean;
  readonly after: Mean;
  /** Of one over the other, with the standard error of paired differences. */
  readonly gain: Mean;
  /** The best of the frequent answers of the examples, given to every held-out task. */
  readonly constant: Mean & { readonly answer: string };
  /** Of fine-tuning and training. */
  readonly seconds: number;
  /** Mean reward of the rollouts of each step. */
  readonly curve: readonly number[];
}

/** What is the same for all families. */
export const setup = {
  model: "SmolLM2-135M-Instruct",
  system: "Reply with the answer alone.",
  /** Tasks of each split. */
  size: 256,
  loraRank: 16,
  /** Where right answers are rare at first. */
  examples: { steps: 4, batch: 16, learningRate: 1e-3 },
  rollouts: { steps: 20, tasks: 8, n: 8, learningRate: 5e-4, maxTokens: 12 },
  heldOut: { tasks: 64, n: 2 },
  constants: 64,
  seed: 0,
} as const;

/** Options of the environment. */
interface InEnvironment {
  readonly systemPrompt: string;
  readonly python: string;
}

const sampling = { maxTokens: setup.rollouts.maxTokens };

async function heldOutRewards(
  env: string,
  model: string,
  base: string,
  environment: InEnvironment,
) {
  const { items } = await evaluate({
    env,
    model,
    n: setup.heldOut.n,
    limit: setup.heldOut.tasks,
    seed: setup.seed,
    // At the temperature of training.
    config: {
      model: { name: base },
      environment: { ...environment, valSplit: "test" },
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

async function fromExamples(examples: readonly Example[], model: string, outputDir: string) {
  const { steps, batch, learningRate } = setup.examples;
  const { runDir } = await fineTune({
    config: {
      model: { name: model, loraRank: setup.loraRank },
      data: { trainBatchSize: batch },
      training: { learningRate },
      trainer: {
        totalBatches: steps,
        saveFreq: 0,
        outputDir,
        experimentName: "examples",
        seed: setup.seed,
      },
    },
    train: examples.map(({ prompt, completion }) => ({
      messages: [
        { role: "system", content: setup.system },
        { role: "user", content: prompt },
        { role: "assistant", content: completion },
      ],
    })),
  });
  return runDir;
}

async function fromRollouts(
  env: string,
  model: string,
  outputDir: string,
  environment: InEnvironment,
) {
  const { steps, tasks, n, learningRate } = setup.rollouts;
  const curve: number[] = [];
  const trainer = new AgentTrainer({
    env,
    config: {
      model: { name: model, loraRank: setup.loraRank },
      data: { trainBatchSize: tasks },
      environment,
      rollout: { n, train: sampling },
      training: { learningRate },
      trainer: { totalBatches: steps, saveFreq: 0, outputDir, seed: setup.seed },
    },
    onEvent(event) {
      if (event.type === "step-end") curve.push(event.metrics["reward/mean"] ?? 0);
    },
  });
  const { runDir } = await trainer.train();
  return { runDir, curve };
}

/** Trains `model` on one family, with `examples` on those first. `env` has its tasks. */
export async function measure(
  family: string,
  env: string,
  model: string,
  {
    constant,
    examples,
    python,
  }: { constant: Row["constant"]; examples: readonly Example[]; python: string },
): Promise<Row> {
  const environment = { systemPrompt: setup.system, python };
  const folder = mkdtempSync(join(tmpdir(), `reasoning-gym-${family}-`));
  const hasExamples = examples.length > 0;
  try {
    const published = await heldOutRewards(env, model, model, environment);
    console.error(`${family}, published: ${meanOf(published).mean.toFixed(3)}`);
    let begun = performance.now();
    const start = hasExamples ? await fromExamples(examples, model, folder) : model;
    let seconds = performance.now() - begun;
    const before = hasExamples ? await heldOutRewards(env, start, model, environment) : published;
    if (hasExamples) console.error(`${family}, examples: ${meanOf(before).mean.toFixed(3)}`);
    begun = performance.now();
    const { runDir, curve } = await fromRollouts(env, start, folder, environment);
    seconds += performance.now() - begun;
    const after = await heldOutRewards(env, runDir, model, environment);
    return {
      family,
      heldOut: after.length,
      exampleSteps: hasExamples ? setup.examples.steps : 0,
      published: meanOf(published),
      before: meanOf(before),
      after: meanOf(after),
      gain: meanOf(after.map((reward, i) => reward - (before[i] ?? 0))),
      constant,
      seconds: Math.round(seconds / 1000),
      curve,
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
