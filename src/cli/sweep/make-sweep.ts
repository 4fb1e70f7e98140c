/** Makes the runs of a sweep with their progress on the screen, and reports: `sweep`, and other commands with several seeds. */
import { basename, extname, join } from "node:path";
import { folderOf, loadConfig } from "../../config/load.ts";
import { AgentTrainer } from "../../launch/agent-trainer.ts";
import { checkExamples } from "../../launch/finetune/examples/load-examples.ts";
import { fineTune } from "../../launch/finetune/fine-tune.ts";
import { prepareSweep, sweep } from "../../launch/sweep/sweep.ts";
import type { SweepOptions } from "../../launch/sweep/sweep-options.ts";
import { formatSweep } from "../report/sweep-table.ts";
import { createPullProgress } from "../terminal/byte-progress.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import { createFineTuneProgress } from "../terminal/fine-tune-progress.ts";
import { watchRunInterrupt } from "../terminal/interrupt.ts";
import { type CliIo, writeResult } from "../terminal/io.ts";
import { createLateErrors } from "../terminal/process-end.ts";
import { createProgress } from "../terminal/progress.ts";
import { commandLine } from "../terminal/resume-command.ts";
import { safeText } from "../terminal/terminal.ts";

export interface SweepCommand extends Omit<
  SweepOptions,
  "config" | "train" | "folder" | "signal" | "onRun" | "onEvent"
> {
  /** null where everything is in overrides. */
  readonly configFile: string | null;
  readonly overrides: readonly string[];
  /** Folder of the sweep. @default `name` in `trainer.output_dir` */
  readonly folder: string | null;
  /** @default that of the run or of the file, with `suffix` */
  readonly name: string | null;
  readonly suffix: "seeds" | "sweep";
  readonly isDryRun: boolean;
  /** Runs learn from examples. */
  readonly isFineTuning: boolean;
  /** How the command was called, without `--resume`. */
  readonly words: readonly string[];
}

/** @returns the exit status */
export async function makeSweep(
  command: SweepCommand,
  { json = false, quiet = false }: { readonly json?: boolean; readonly quiet?: boolean },
  io: CliIo,
): Promise<number> {
  const {
    configFile: file,
    overrides,
    suffix,
    words,
    isDryRun,
    isFineTuning,
    ...options
  } = command;
  const config: SweepOptions["config"] = (more) =>
    loadConfig({ overrides: [...overrides, ...more], ...(file === null ? {} : { file }) }).config;
  const { outputDir, experimentName } = config([]).trainer;
  const base = experimentName ?? (file === null ? "run" : basename(file, extname(file)));
  const folder = options.folder ?? join(outputDir, options.name ?? `${base}-${suffix}`);
  using late = createLateErrors(io.stderr);
  const shown = { stream: io.stderr, isQuiet: quiet };
  const progress = isFineTuning ? createFineTuneProgress(shown) : createProgress(shown);
  const onPull = createPullProgress(io.stderr);
  const planned = {
    ...options,
    ...{ folder, config },
    train: (own: ReturnType<typeof config>, run: Parameters<SweepOptions["train"]>[1]) => {
      const given = { config: own, ...run, onPull };
      return isFineTuning ? fineTune(given) : new AgentTrainer(given).train();
    },
  };
  if (isFineTuning)
    for (const run of prepareSweep(planned).runs)
      checkExamples({ config: run.config, folder: folderOf(run.config) });
  if (isDryRun) {
    const { runs } = prepareSweep(planned);
    const names = runs.map(({ name }) => name);
    const text = `${names.length} runs in ${folder}:\n${names.map(safeText).join("\n")}\n`;
    writeResult(io, json, { folder, runs: names }, text);
    return exitCodes.done;
  }
  using interrupt = watchRunInterrupt(io, progress);
  const result = await sweep({
    ...planned,
    signal: interrupt.signal,
    onRun({ name, index, of }) {
      progress.clear();
      if (!quiet) io.stderr.write(`\nrun ${index + 1} of ${of}: ${safeText(name)}\n`);
    },
    onEvent: (event) => progress.onEvent(event),
  }).finally(() => late.watch());
  progress.clear();
  writeResult(io, json, result, formatSweep(result));
  const all = result.points.flatMap(({ runs }) => runs);
  if (all.some(({ status }) => status === "waiting"))
    io.stderr.write(`To resume: ${commandLine([...words, "--resume"])}\n`);
  if (result.status === "interrupted") return exitCodes.interrupted;
  return all.some(({ status }) => status === "failed") ? exitCodes.failed : exitCodes.done;
}
