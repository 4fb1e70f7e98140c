/** `--seeds` of `train`, `sft`, `dpo` and `kto`: a run for each seed, with its progress on the screen, and a report. */
import { basename, extname, join } from "node:path";
import { folderOf, loadConfig } from "../../config/load.ts";
import { ConfigError } from "../../core/errors.ts";
import { AgentTrainer } from "../../launch/agent-trainer.ts";
import { checkExamples } from "../../launch/finetune/examples/load-examples.ts";
import { fineTune } from "../../launch/finetune/fine-tune.ts";
import {
  prepareSeeds,
  trainSeeds,
  type TrainSeedsOptions,
} from "../../launch/seeds/train-seeds.ts";
import type { ResumeMode } from "../../runs/run-directory.ts";
import { createPullProgress } from "../terminal/byte-progress.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import { createFineTuneProgress } from "../terminal/fine-tune-progress.ts";
import { watchRunInterrupt } from "../terminal/interrupt.ts";
import { type CliIo, writeResult } from "../terminal/io.ts";
import { createLateErrors } from "../terminal/process-end.ts";
import { createProgress } from "../terminal/progress.ts";
import { commandLine } from "../terminal/resume-command.ts";
import { safeText } from "../terminal/terminal.ts";
import { formatSeeds } from "./seeds-table.ts";

interface SeedsCommand extends Pick<TrainSeedsOptions, "seeds"> {
  /** null where everything is in overrides. */
  readonly configFile: string | null;
  readonly overrides: readonly string[];
  readonly resume: ResumeMode;
  readonly allowChanges: boolean;
  readonly isDryRun: boolean;
  /** Runs learn from examples. */
  readonly isFineTuning: boolean;
  /** How the command was called, without `--seeds` and `--resume`. */
  readonly words: readonly string[];
}

/** @returns the exit status */
export async function makeSeeds(
  command: SeedsCommand,
  { json = false, quiet = false }: { readonly json?: boolean; readonly quiet?: boolean },
  io: CliIo,
): Promise<number> {
  const { configFile: file, overrides, seeds, resume, isFineTuning } = command;
  if (command.allowChanges) {
    throw new ConfigError({
      message: "--allow-changes and --seeds cannot be combined: all seeds have the same options.",
      hint: "Start another folder: set trainer.experiment_name.",
    });
  }
  const config: TrainSeedsOptions["config"] = (more) =>
    loadConfig({ overrides: [...overrides, ...more], ...(file === null ? {} : { file }) }).config;
  const { outputDir, experimentName } = config([]).trainer;
  const base = experimentName ?? (file === null ? "run" : basename(file, extname(file)));
  const folder =
    typeof resume === "string" && resume !== "auto" ? resume : join(outputDir, `${base}-seeds`);
  using late = createLateErrors(io.stderr);
  const prepared = prepareSeeds({ folder, seeds, config });
  // All have the same examples.
  for (const run of isFineTuning ? prepared.slice(0, 1) : [])
    checkExamples({ config: run.config, folder: folderOf(run.config) });
  if (command.isDryRun) {
    const names = prepared.map(({ name }) => name);
    const text = `${names.length} runs in ${folder}:\n${names.map(safeText).join("\n")}\n`;
    writeResult(io, json, { folder, runs: names }, text);
    return exitCodes.done;
  }
  const shown = { stream: io.stderr, isQuiet: quiet };
  const progress = isFineTuning ? createFineTuneProgress(shown) : createProgress(shown);
  const onPull = createPullProgress(io.stderr);
  using interrupt = watchRunInterrupt(io, progress);
  const result = await trainSeeds({
    ...{ folder, seeds, config, resume: resume !== false, signal: interrupt.signal },
    train(own, run) {
      const given = { config: own, ...run, onPull };
      return isFineTuning ? fineTune(given) : new AgentTrainer(given).train();
    },
    onRun({ name, index, of }) {
      progress.clear();
      if (!quiet) io.stderr.write(`\nrun ${index + 1} of ${of}: ${safeText(name)}\n`);
    },
    onEvent: (event) => progress.onEvent(event),
  }).finally(() => late.watch());
  progress.clear();
  writeResult(io, json, result, formatSeeds(result));
  if (result.status === "interrupted") {
    const words = [...command.words, "--seeds", String(seeds), "--resume", folder];
    io.stderr.write(`To resume: ${commandLine(words)}\n`);
    return exitCodes.interrupted;
  }
  const hasFailed = result.runs.some(({ status }) => status === "failed");
  return hasFailed ? exitCodes.failed : exitCodes.done;
}
