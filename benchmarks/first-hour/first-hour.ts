/** `first-hour`: the project of `init --model` with a real model, stage by stage, as docs/first-hour.md has it. */
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ConfigError } from "../../src/core/errors.ts";
import { hasLlama, publishedModel } from "../engine-llama/llama-files.ts";
import type { Benchmark } from "../harness/benchmark.ts";
import { type Result, result } from "../harness/result.ts";
import { median } from "../harness/statistics.ts";
import { createTempFolder } from "../harness/temp-folder.ts";
import { runStage } from "./run-stage.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** Its commands, without those of npm, which link here what they would install. */
const stages = (short: readonly string[]): Readonly<Record<string, readonly string[]>> => ({
  sft: ["sft", "sft.yaml", ...short],
  "eval before": ["eval", "train.yaml", "--output", "evals/before"],
  "eval after sft": ["eval", "train.yaml", "--model", "runs/sft", "--output", "evals/sft"],
  train: ["train", "train.yaml", "model.name=runs/sft", ...short],
  "eval after": ["eval", "train.yaml", "--model", "runs/rl", "--output", "evals/after"],
  export: ["model", "export", "runs/rl", "--format", "gguf", "--into", "shop.gguf"],
});

interface Row {
  readonly phase: string;
  readonly [metric: string]: number | string | undefined;
}

const rowsOf = (file: string): Row[] =>
  readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Row);

/** Of a summary that an evaluation wrote. */
const rewardOf = (folder: string): number =>
  (JSON.parse(readFileSync(join(folder, "summary.json"), "utf8")) as { reward: { mean: number } })
    .reward.mean;

export const firstHour: Benchmark = {
  name: "first-hour",
  summary: "init --model with SmolLM2-135M-Instruct: minutes, memory and rewards of each stage",
  async run({ quick }, log) {
    if (!hasLlama()) {
      throw new ConfigError({
        message: "The model is not there.",
        hint: "npm run bench:setup:llama fetches it.",
      });
    }
    using folder = createTempFolder();
    const project = join(folder.path, "shop");
    await runStage(["init", project, "--model", publishedModel], folder.path);
    mkdirSync(join(project, "node_modules"));
    for (const name of ["openai", "tsx"])
      symlinkSync(join(root, "node_modules", name), join(project, "node_modules", name));
    symlinkSync(root, join(project, "node_modules", "agent-trainer"));
    const results: Result[] = [];
    for (const [name, args] of Object.entries(stages(quick ? ["trainer.total_batches=1"] : []))) {
      log(`${name} ...`);
      const { seconds, processorSeconds, peakMib } = await runStage(args, project);
      results.push(
        result(`${name}: time`, "s", seconds),
        result(`${name}: processor time`, "s", processorSeconds),
        result(`${name}: peak memory`, "MiB", peakMib),
      );
    }
    const steps = rowsOf(join(project, "runs/rl/metrics.jsonl"))
      .filter(({ phase }) => phase === "train")
      .map((row) => Number(row["time/step_s"]));
    return [
      ...results,
      result("100 steps of train, from the median step", "min", (median(steps) * 100) / 60),
      ...["before", "sft", "after"].map((name) =>
        result(`reward ${name}`, "", rewardOf(join(project, "evals", name))),
      ),
    ];
  },
};
