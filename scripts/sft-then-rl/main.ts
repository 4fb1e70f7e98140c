/**
 * Fine-tuning on a few demonstrations and then reinforcement learning, against reinforcement learning alone:
 * the shop example, the two alternating, several seeds. Writes the curves, OUT.json and OUT.svg, after each
 * validation; what OUT.json has already is not measured again. --alone measures only the second of the two,
 * --no-alone only the first.
 *
 *   npx tsx --conditions=agent-trainer-source scripts/sft-then-rl/main.ts OUT [--seeds 2] [--at-most RUNS]
 *     [--model builtin:shop-tiny] [--minutes 8] [--tasks 100] [--every 2] [--demonstration-steps 4]
 *     [--demonstration-batch 8] [--demonstration-rate RATE] [--batch 8] [--alone | --no-alone]
 *
 * With --minutes, both train for that many minutes of processor time, which is what all threads of this
 * process used, so that other programs on the machine change nothing; validations and the loading of the model
 * for reinforcement learning are not counted, that for fine-tuning is. Else they make 6 and 10 steps. Models other
 * than the built-in one are trained with the defaults of LoRA and a graded reward.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, tmpdir } from "node:os";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { AgentTrainer, fineTune, loadConfig, type TrainerEvent } from "agent-trainer";
import { agent } from "../../examples/shop/agent.ts";
import { evaluator } from "../../examples/shop/evaluator.ts";
import { trainTasks, valTasks } from "../../examples/shop/tasks.ts";
import { demonstrations } from "../../examples/sft-then-rl/demonstrations.ts";
import { chart, type Arms, type Point } from "./chart.ts";
import { gradedEvaluator } from "./graded-evaluator.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  allowNegative: true,
  options: {
    seeds: { type: "string", default: "2" },
    model: { type: "string", default: "builtin:shop-tiny" },
    minutes: { type: "string", default: "Infinity" },
    tasks: { type: "string", default: "100" },
    every: { type: "string", default: "2" },
    "demonstration-steps": { type: "string", default: "4" },
    "demonstration-batch": { type: "string", default: "8" },
    "demonstration-rate": { type: "string" },
    batch: { type: "string", default: "8" },
    "at-most": { type: "string", default: "Infinity" },
    alone: { type: "boolean" },
  },
});
const [out] = positionals;
const { model } = values;
const [seeds, minutes, tasks, every, batch, atMost] = (
  ["seeds", "minutes", "tasks", "every", "batch", "at-most"] as const
).map((name) => Number(values[name])) as [number, number, number, number, number, number];
const demonstrationSteps = Number(values["demonstration-steps"]);
const demonstrationBatch = Number(values["demonstration-batch"]);
const rate = values["demonstration-rate"];
const demonstrationRate = rate === undefined ? {} : { learningRate: Number(rate) };
if (out === undefined || !(seeds >= 1 && minutes > 0 && tasks >= 1)) {
  throw new Error("Usage: main.ts OUT [--seeds 2] [--model NAME] [--minutes 8] [--tasks 100] ...");
}

const isBuiltIn = model === "builtin:shop-tiny";
/** Of the built-in model; for others the defaults fit, which are those of LoRA. */
const training = isBuiltIn ? { learningRate: 5e-4 } : {};
const outputDir = mkdtempSync(join(tmpdir(), "sft-then-rl-"));
process.on("exit", () => rmSync(outputDir, { recursive: true, force: true }));

/** Of all threads since the process started. */
function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/** Adds up what a run spends. */
class Spent {
  steps = 0;
  tokens = 0;
  seconds = 0;
  processorSeconds = 0;
  #stepStart = 0;

  add(event: TrainerEvent): void {
    if (event.type === "step-start") this.#stepStart = processorTime();
    if (event.type !== "step-end") return;
    const { metrics } = event;
    this.steps++;
    this.processorSeconds += processorTime() - this.#stepStart;
    this.tokens += (metrics["tokens/sampled"] ?? 0) + (metrics["train/tokens"] ?? 0);
    this.seconds += metrics["time/step_s"] ?? 0;
    console.error(
      `${this.processorSeconds.toFixed(0)} s of processor time  step ${this.steps}  reward ${metrics["reward/mean"]?.toFixed(3) ?? "-"}  loss ${metrics["train/loss"]?.toFixed(3) ?? "-"}  tokens ${this.tokens}`,
    );
  }
}

async function warmUp(seed: number, spent: Spent): Promise<string> {
  const start = processorTime();
  const { runDir } = await fineTune({
    config: {
      model: { name: model },
      data: { trainBatchSize: demonstrationBatch },
      training: { ...training, ...demonstrationRate },
      trainer: { outputDir, totalBatches: demonstrationSteps, seed },
    },
    train: demonstrations,
    onEvent: (event) => spent.add(event),
  });
  spent.processorSeconds = processorTime() - start;
  return runDir;
}

interface Reinforcement {
  readonly from: string;
  readonly steps: number;
  readonly seed: number;
  /** Before and in it. */
  readonly spent: Spent;
  readonly onPoint: (point: Point) => void;
}

async function reinforce({ from, steps, seed, spent, onPoint }: Reinforcement): Promise<void> {
  const enough = new AbortController();
  const isTimed = minutes !== Infinity;
  const { config } = loadConfig({
    overrides: {
      model: { name: from },
      data: { trainBatchSize: batch },
      rollout: { n: 8, train: { maxTokens: 64 }, val: { maxTokens: 64 } },
      training,
      trainer: { outputDir, totalBatches: isTimed ? 1000 : steps, testFreq: every, seed },
    },
  });
  const trainer = new AgentTrainer({
    agentFlow: agent,
    evaluator: isBuiltIn ? evaluator : gradedEvaluator,
    config,
    trainDataset: trainTasks,
    valDataset: valTasks.slice(0, tasks),
    signal: enough.signal,
    onEvent(event) {
      spent.add(event);
      if (event.type !== "validation-end") return;
      const { steps: done, tokens, seconds, processorSeconds } = spent;
      const { "val/pass@1": right = 0, "val/reward/mean": reward = 0 } = event.metrics;
      onPoint({ seed, steps: done, tokens, seconds, processorSeconds, reward, right });
      if (processorSeconds >= 60 * minutes) enough.abort();
    },
  });
  await trainer.train();
}

const [withDemonstrations, alone] = ["demonstrations, then rollouts", "rollouts alone"] as const;
const settings = {
  model: basename(model),
  ...training,
  batch,
  ...(minutes === Infinity ? {} : { minutes }),
  demonstrationSteps,
  demonstrationBatch,
  ...(rate === undefined ? {} : { demonstrationRate: Number(rate) }),
  tasks,
};
const earlier = existsSync(`${out}.json`)
  ? (JSON.parse(readFileSync(`${out}.json`, "utf8")) as { arms: Arms; settings: unknown })
  : null;
if (earlier !== null && JSON.stringify(earlier.settings) !== JSON.stringify(settings)) {
  throw new Error(
    `${out}.json was measured with other settings: ${JSON.stringify(earlier.settings)}`,
  );
}
const arms: Record<string, readonly Point[]> = {
  ...(earlier?.arms ?? { [withDemonstrations]: [], [alone]: [] }),
};

function save(): void {
  const machine = { cpu: cpus()[0]?.model ?? "unknown", cores: availableParallelism() };
  const result = { machine, date: new Date().toISOString(), settings, arms };
  writeFileSync(`${out}.json`, `${JSON.stringify(result, null, 2)}\n`);
  writeFileSync(`${out}.svg`, chart(arms, minutes === Infinity ? "tokens" : "processorMinutes"));
}

let left = atMost;
for (let seed = 0; seed < seeds; seed++) {
  for (const arm of [withDemonstrations, alone]) {
    if ((values.alone ?? arm === alone) !== (arm === alone)) continue;
    if (left === 0 || (arms[arm] ?? []).some((point) => point.seed === seed)) continue;
    left--;
    const spent = new Spent();
    const from = arm === alone ? model : await warmUp(seed, spent);
    await reinforce({
      from,
      steps: arm === alone ? 10 : 6,
      seed,
      spent,
      onPoint(point) {
        console.error(JSON.stringify(point));
        arms[arm] = [...(arms[arm] ?? []), point];
        save();
      },
    });
  }
}
