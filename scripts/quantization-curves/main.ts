/**
 * Learning curves with and without an int8 base: examples/real-model in alternation, several seeds. Writes
 * OUT.json after each run; runs that it has already are not measured again.
 *
 *   npx tsx --conditions=agent-trainer-source scripts/quantization-curves/main.ts OUT MODEL [--seeds 5] [--steps 12]
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { summarize, type CurveRun } from "./summarize.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seeds: { type: "string", default: "5" },
    steps: { type: "string", default: "12" },
  },
});
const [out, model] = positionals;
const [seeds, steps] = [Number(values.seeds), Number(values.steps)];
if (out === undefined || model === undefined || !(seeds >= 1 && steps >= 1)) {
  throw new Error("Usage: main.ts OUT MODEL [--seeds 5] [--steps 12]");
}

const outputDir = mkdtempSync(join(tmpdir(), "quantization-curves-"));
process.on("exit", () => rmSync(outputDir, { recursive: true, force: true }));

function train(modelName: string, quantization: string, seed: number): CurveRun {
  const name = `${quantization}-${seed}`;
  const { status } = spawnSync(
    process.execPath,
    [
      ...process.execArgv,
      "examples/real-model/train.ts",
      modelName,
      `model.quantization=${quantization}`,
      `trainer.seed=${seed}`,
      `trainer.total_batches=${steps}`,
      `trainer.test_freq=${Math.ceil(steps / 2)}`,
      "rollout.n_val=4",
      `trainer.output_dir=${outputDir}`,
      `trainer.experiment_name=${name}`,
    ],
    { stdio: ["ignore", 2, 2] },
  );
  if (status !== 0) throw new Error(`The run ${name} ended with ${status}.`);
  const lines = readFileSync(join(outputDir, name, "metrics.jsonl"), "utf8")
    .trimEnd()
    .split("\n");
  const metrics = lines.map((line) => JSON.parse(line) as Record<string, number | string>);
  const rewards = (phase: string, metric: string): number[] =>
    metrics.filter((line) => line.phase === phase).map((line) => Number(line[metric]));
  return {
    quantization,
    seed,
    training: rewards("train", "reward/mean"),
    validation: rewards("validation", "val/reward/mean"),
  };
}

const file = `${out}.json`;
const runs: CurveRun[] = existsSync(file)
  ? (JSON.parse(readFileSync(file, "utf8")) as { runs: CurveRun[] }).runs
  : [];
for (let seed = 0; seed < seeds; seed++) {
  for (const quantization of ["none", "int8"]) {
    const isDone = runs.some((run) => run.seed === seed && run.quantization === quantization);
    if (isDone) continue;
    runs.push(train(model, quantization, seed));
    const machine = { cpu: cpus()[0]?.model ?? "unknown", cores: availableParallelism() };
    const summary = summarize(runs);
    writeFileSync(file, `${JSON.stringify({ machine, steps, summary, runs }, null, 2)}\n`);
    console.log(JSON.stringify(runs.at(-1)));
  }
}
console.table(summarize(runs));
