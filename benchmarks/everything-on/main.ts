/**
 * What watching a run costs: pairs of the same run on the built-in model, with TensorBoard, the health watch
 * and `agent-trainer view` in another process, and with none of them; and the health watch alone. Prints JSON.
 * The page has to be built (npm run build).
 *
 *   npx tsx --conditions=agent-trainer-source benchmarks/everything-on/main.ts [PAIRS] [STEPS]
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { agent } from "../../examples/shop/agent.ts";
import { evaluator } from "../../examples/shop/evaluator.ts";
import { makeTasks } from "../../examples/shop/tasks.ts";
import { examine } from "../../src/runs/health/find-problems.ts";
import { History } from "../../src/runs/health/history.ts";
import { AgentTrainer } from "../../src/launch/agent-trainer.ts";
import { median } from "../../src/util/median.ts";

const [pairs = 5, steps = 12] = process.argv.slice(2).map(Number);

interface Measured {
  /** Median of the later steps, in seconds: in the first three the viewer starts. */
  readonly stepS: number;
  /** Processor time of a later step: of the run, and of the viewer where there is one. */
  readonly cpuS: { readonly run: number; readonly viewer: number };
  readonly lines: readonly Readonly<Record<string, number>>[];
}

const cli = join(import.meta.dirname, "..", "..", "src", "cli", "main.ts");

function startViewer(folder: string): ChildProcess {
  const args = [...process.execArgv, cli, "view", folder, "--port", "0"];
  return spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"] });
}

/** Processor time that another process has used so far, in seconds; Linux only. */
function processorTime(pid: number | undefined): number {
  if (pid === undefined) return 0;
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
  // utime and stime, in hundredths of a second.
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

async function train(isOn: boolean): Promise<Measured> {
  const outputDir = mkdtempSync(join(tmpdir(), "agent-trainer-bench-"));
  const lines: Readonly<Record<string, number>>[] = [];
  const ends: number[] = [];
  const spent: { run: number; viewer: number }[] = [];
  let viewer: ChildProcess | undefined;
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
      const { user, system } = process.cpuUsage();
      spent.push({ run: (user + system) / 1e6, viewer: processorTime(viewer?.pid) });
      if (!isOn || viewer !== undefined || event.step > 1) return;
      viewer = startViewer(join(outputDir, "run"));
    },
  });
  try {
    await trainer.train();
  } finally {
    if (viewer?.kill() === true) await once(viewer, "exit");
    rmSync(outputDir, { recursive: true, force: true });
  }
  const spans = ends.slice(1).map((end, i) => (end - (ends[i] ?? end)) / 1000);
  const later = spent.slice(3);
  const perStep = (of: "run" | "viewer"): number =>
    ((later.at(-1)?.[of] ?? 0) - (later[0]?.[of] ?? 0)) / Math.max(1, later.length - 1);
  const cpuS = { run: perStep("run"), viewer: perStep("viewer") };
  return { stepS: median(spans.slice(3)), cpuS, lines };
}

const rounds: { on: Measured; off: Measured; ratio: number }[] = [];
let lines: Measured["lines"] = [];
for (let i = 0; i < pairs; i++) {
  // In turn, so that a machine that gets slower treats both alike.
  const order = i % 2 === 0 ? [true, false] : [false, true];
  const measured = new Map<boolean, Measured>();
  for (const isOn of order) measured.set(isOn, await train(isOn));
  const [on, off] = [measured.get(true), measured.get(false)];
  if (on === undefined || off === undefined) throw new Error("A run is missing.");
  lines = on.lines;
  rounds.push({ on, off, ratio: on.stepS / off.stepS });
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
const offS = median(rounds.map(({ off }) => off.stepS));
const cpuOffS = median(rounds.map(({ off }) => off.cpuS.run));
process.stdout.write(
  `${JSON.stringify({
    pairs,
    steps,
    stepOffS: offS,
    slowerFraction: median(rounds.map(({ ratio }) => ratio)) - 1,
    slowerGoal: "<= 0.02",
    cpuOffS,
    moreCpuS: median(rounds.map(({ on, off }) => on.cpuS.run - off.cpuS.run)),
    viewerCpuS: median(rounds.map(({ on }) => on.cpuS.viewer)),
    healthMsPerStep: healthMs,
    healthFraction: healthMs / 1000 / offS,
    healthGoal: "<= 0.01",
    rounds: rounds.map(({ on, off, ratio }) => ({
      ratio,
      stepS: [on.stepS, off.stepS],
      cpuS: [on.cpuS, off.cpuS],
    })),
  })}\n`,
);
