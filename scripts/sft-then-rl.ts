/**
 * Fine-tuning on a few demonstrations and then reinforcement learning, against reinforcement learning alone:
 * the shop example, the two alternating, several seeds. Writes the curves, OUT.json and OUT.svg.
 *
 *   npx tsx --conditions=agent-trainer-source scripts/sft-then-rl.ts OUT [--seeds 2] [--model builtin:shop-tiny]
 *     [--minutes 20] [--tasks 100]
 *
 * With --minutes, both train for as long, validations not counted; else they make 6 and 10 steps.
 */
import { mkdtempSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { AgentTrainer, loadConfig, type TrainerEvent } from "agent-trainer";
import { fineTune } from "agent-trainer/finetune";
import { agent } from "../examples/shop/agent.ts";
import { evaluator } from "../examples/shop/evaluator.ts";
import { trainTasks, valTasks } from "../examples/shop/tasks.ts";
import { demonstrations } from "../examples/sft-then-rl/demonstrations.ts";

/** A validation: what was spent before it, and what came out. */
interface Point {
  readonly seed: number;
  /** Optimizer steps, of both kinds. */
  readonly steps: number;
  /** Tokens that were sampled, and tokens that were trained on. */
  readonly tokens: number;
  /** Of training; validations are not counted. */
  readonly seconds: number;
  readonly right: number;
}

const usage =
  "Usage: sft-then-rl.ts OUT [--seeds 2] [--model NAME] [--minutes MINUTES] [--tasks VALIDATION_TASKS]";
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seeds: { type: "string", default: "2" },
    model: { type: "string", default: "builtin:shop-tiny" },
    minutes: { type: "string" },
    tasks: { type: "string", default: "100" },
  },
});
const [out] = positionals;
if (out === undefined) throw new Error(usage);
const { model } = values;
const seeds = Number(values.seeds);
const limitS = values.minutes === undefined ? Infinity : 60 * Number(values.minutes);
const validation = valTasks.slice(0, Number(values.tasks));
if (!(seeds >= 1 && limitS > 0 && validation.length > 0)) throw new Error(usage);

/** Of the built-in model; for others the defaults fit, which are those of LoRA. */
const learningRate = model === "builtin:shop-tiny" ? 5e-4 : undefined;
const training = learningRate === undefined ? {} : { learningRate };
const shared = { outputDir: mkdtempSync(join(tmpdir(), "sft-then-rl-")) };

/** Adds up what a run spends. */
class Spent {
  steps = 0;
  tokens = 0;
  seconds = 0;

  add(event: TrainerEvent): void {
    if (event.type !== "step-end") return;
    const { metrics } = event;
    this.steps++;
    this.tokens += (metrics["tokens/sampled"] ?? 0) + (metrics["train/tokens"] ?? 0);
    this.seconds += metrics["time/step_s"] ?? 0;
  }
}

async function warmUp(seed: number, spent: Spent): Promise<string> {
  const { runDir } = await fineTune({
    config: {
      model: { name: model },
      data: { trainBatchSize: 8 },
      training,
      trainer: { ...shared, totalBatches: 4, seed },
    },
    train: demonstrations,
    onEvent: (event) => spent.add(event),
  });
  return runDir;
}

async function reinforce(from: string, steps: number, seed: number, spent: Spent) {
  const enough = new AbortController();
  const points: Point[] = [];
  const { config } = loadConfig({
    overrides: {
      model: { name: from },
      data: { trainBatchSize: 8 },
      rollout: { n: 8, train: { maxTokens: 64 }, val: { maxTokens: 64 } },
      training,
      trainer: {
        ...shared,
        totalBatches: limitS === Infinity ? steps : 1000,
        testFreq: limitS === Infinity ? 2 : 1,
        seed,
      },
    },
  });
  const trainer = new AgentTrainer({
    agentFlow: agent,
    evaluator,
    config,
    trainDataset: trainTasks,
    valDataset: validation,
    signal: enough.signal,
    onEvent(event) {
      spent.add(event);
      if (event.type !== "validation-end") return;
      const { steps: done, tokens, seconds } = spent;
      points.push({ seed, steps: done, tokens, seconds, right: event.metrics["val/pass@1"] ?? 0 });
      console.error(JSON.stringify(points.at(-1)));
      if (seconds >= limitS) enough.abort();
    },
  });
  await trainer.train();
  return points;
}

const arms = {
  "demonstrations, then rollouts": [] as Point[],
  "rollouts alone": [] as Point[],
};
for (let seed = 0; seed < seeds; seed++) {
  const warm = new Spent();
  const runDir = await warmUp(seed, warm);
  arms["demonstrations, then rollouts"].push(...(await reinforce(runDir, 6, seed, warm)));
  arms["rollouts alone"].push(...(await reinforce(model, 10, seed, new Spent())));
}
const machine = { cpu: cpus()[0]?.model ?? "unknown", cores: availableParallelism() };
const date = new Date().toISOString();
const result = { machine, date, model, ...training, arms };
writeFileSync(`${out}.json`, `${JSON.stringify(result, null, 2)}\n`);
writeFileSync(`${out}.svg`, draw());

function draw(): string {
  const [width, height, left, right, top, bottom] = [720, 340, 44, 230, 20, 40];
  const all = Object.values(arms).flat();
  const axis = limitS === Infinity ? "tokens" : "seconds";
  const most = Math.max(...all.map((point) => point[axis]));
  const x = (spent: number): number => left + (spent / most) * (width - left - right);
  const y = (value: number): number => height - bottom - value * (height - top - bottom);
  const text = (at: readonly [number, number], words: string, anchor: string, color = "#808080") =>
    `<text x="${at[0].toFixed(1)}" y="${at[1].toFixed(1)}" text-anchor="${anchor}" fill="${color}">${words}</text>`;
  const colors = ["#2e9e5b", "#9aa7b8"];
  const lines = Object.entries(arms).flatMap(([name, points], i) => {
    const color = colors[i]!;
    const bySeed = Array.from({ length: seeds }, (_, seed) =>
      points.filter((point) => point.seed === seed),
    );
    return [
      ...bySeed.map((own) => {
        const path = own.map((p) => `${x(p[axis]).toFixed(1)},${y(p.right).toFixed(1)}`).join(" ");
        return `<polyline points="${path}" fill="none" stroke="${color}" stroke-width="2"/>`;
      }),
      ...points.map(
        (p) =>
          `<circle cx="${x(p[axis]).toFixed(1)}" cy="${y(p.right).toFixed(1)}" r="4" fill="${color}"/>`,
      ),
      text([width - right + 12, top + 14 + 22 * i], name, "start", color),
    ];
  });
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="13" role="img">`,
    `<title>Fraction of validation tasks solved against ${axis} of training</title>`,
    ...[0, 0.25, 0.5, 0.75, 1].flatMap((value) => [
      `<line x1="${left}" x2="${width - right}" y1="${y(value)}" y2="${y(value)}" stroke="#808080" stroke-opacity="0.3"/>`,
      text([left - 8, y(value) + 4], String(value), "end"),
    ]),
    ...[0, 0.5, 1].map((share) =>
      text(
        [x(share * most), height - bottom + 20],
        Math.round(share * most).toLocaleString("en"),
        "middle",
      ),
    ),
    text(
      [left + (width - left - right) / 2, height - 4],
      axis === "tokens" ? "tokens sampled and trained on" : "seconds of training",
      "middle",
    ),
    ...lines,
    "</svg>",
  ].join("\n")}\n`;
}
