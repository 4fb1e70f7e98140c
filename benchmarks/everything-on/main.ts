/**
 * What watching a run costs: pairs of the same run on the built-in model, with TensorBoard, the health watch
 * and a viewer that indexes it, and with none of them; and the health watch alone. Prints JSON.
 *
 *   npx tsx --conditions=agent-trainer-source benchmarks/everything-on/main.ts [PAIRS] [STEPS]
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { agent } from "../../examples/shop/agent.ts";
import { evaluator } from "../../examples/shop/evaluator.ts";
import { makeTasks } from "../../examples/shop/tasks.ts";
import { examine } from "../../src/health/find-problems.ts";
import { History } from "../../src/health/history.ts";
import { AgentTrainer } from "../../src/launch/agent-trainer.ts";
import { startViewServer } from "../../src/view/server/view-server.ts";
import { median } from "../../src/util/median.ts";

const [pairs = 5, steps = 12] = process.argv.slice(2).map(Number);

interface Measured {
  /** Median of the steps but the first, in seconds. */
  readonly stepS: number;
  readonly lines: readonly Readonly<Record<string, number>>[];
}

async function train(isOn: boolean): Promise<Measured> {
  const outputDir = mkdtempSync(join(tmpdir(), "agent-trainer-bench-"));
  const lines: Readonly<Record<string, number>>[] = [];
  const ends: number[] = [];
  let viewer: Awaited<ReturnType<typeof startViewServer>> | undefined;
  let opening: Promise<void> = Promise.resolve();
  const trainer = new AgentTrainer({
    agentFlow: agent,
    evaluator,
    trainDataset: makeTasks("train", 256),
    config: {
      "model.name": "builtin:shop-tiny",
      "model.lora_rank": 0,
      "data.train_batch_size": 8,
      "rollout.n": 8,
      "rollout.train.max_tokens": 64,
      "training.learning_rate": 2e-4,
      "trainer.total_batches": steps,
      "trainer.save_freq": 0,
      "trainer.test_freq": 0,
      "trainer.output_dir": outputDir,
      "trainer.experiment_name": "run",
      "tracking.trackers": isOn ? ["tensorboard"] : [],
      "health.enabled": isOn,
    },
    onEvent(event) {
      if (event.type !== "step-end") return;
      lines.push(event.metrics);
      // From end to end, so that what follows a step counts, too.
      ends.push(performance.now());
      if (!isOn || viewer !== undefined || event.step > 1) return;
      opening = startViewServer({
        folders: [join(outputDir, "run")],
        host: "127.0.0.1",
        port: 0,
        token: "bench",
        assets: outputDir,
        findDecoder: () => Promise.resolve(null),
      }).then((server) => void (viewer = server));
    },
  });
  try {
    await trainer.train();
    await opening;
  } finally {
    await viewer?.[Symbol.asyncDispose]();
    rmSync(outputDir, { recursive: true, force: true });
  }
  const spans = ends.slice(1).map((end, i) => (end - (ends[i] ?? end)) / 1000);
  return { stepS: median(spans), lines };
}

const rounds: { on: number; off: number; ratio: number }[] = [];
let lines: Measured["lines"] = [];
for (let i = 0; i < pairs; i++) {
  // In turn, so that a machine that gets slower treats both alike.
  const order = i % 2 === 0 ? [true, false] : [false, true];
  const measured = new Map<boolean, Measured>();
  for (const isOn of order) measured.set(isOn, await train(isOn));
  const [on, off] = [measured.get(true), measured.get(false)];
  if (on === undefined || off === undefined) throw new Error("A run is missing.");
  lines = on.lines;
  rounds.push({ on: on.stepS, off: off.stepS, ratio: on.stepS / off.stepS });
  process.stderr.write(
    `pair ${i + 1} of ${pairs}: ${(100 * (on.stepS / off.stepS - 1)).toFixed(1)} %\n`,
  );
}

const history = new History();
const times: number[] = [];
for (let step = 1; step <= 400; step++) {
  const start = performance.now();
  history.add({ step, phase: "train", values: lines[step % lines.length] ?? {} });
  examine(history);
  // The window is full by then, and the code is compiled.
  if (step > 200) times.push(performance.now() - start);
}
const healthMs = median(times);
const offS = median(rounds.map(({ off }) => off));
process.stdout.write(
  `${JSON.stringify({
    pairs,
    steps,
    stepOffS: offS,
    slowerFraction: median(rounds.map(({ ratio }) => ratio)) - 1,
    slowerGoal: "<= 0.02",
    healthMsPerStep: healthMs,
    healthFraction: healthMs / 1000 / offS,
    healthGoal: "<= 0.01",
    rounds,
  })}\n`,
);
