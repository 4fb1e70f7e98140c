/** `agent-trainer sft` and `agent-trainer dpo`: a model learns from examples. */
import { resolve } from "node:path";
import { folderOf, loadConfig } from "../../config/load.ts";
import type { BackendCapabilities } from "../../core/backend.ts";
import { capabilityMatrix } from "../../core/capabilities.ts";
import { checkExamples } from "../../launch/finetune/examples/load-examples.ts";
import { fineTune } from "../../launch/finetune/fine-tune.ts";
import { previewFineTune } from "../../launch/finetune/preview.ts";
import { formatResolved, resolvedAsJson } from "../report/dry-run.ts";
import { formatPreview } from "../report/fine-tune-preview.ts";
import { createPullProgress } from "../terminal/byte-progress.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import { createFineTuneProgress } from "../terminal/fine-tune-progress.ts";
import { watchInterrupt } from "../terminal/interrupt.ts";
import type { CliIo } from "../terminal/io.ts";
import { createLateErrors } from "../terminal/process-end.ts";
import { duration } from "../terminal/progress.ts";
import { nextCommand } from "../terminal/resume-command.ts";
import { colorsFor } from "../terminal/terminal.ts";
import { readArguments, type TrainFlags } from "./train.ts";

export interface FineTuneFlags extends TrainFlags {
  readonly train?: string;
  readonly val?: string;
  readonly fromRun?: string;
  readonly minReward?: number;
  /** `true`: the flag without a number. */
  readonly preview?: number | boolean;
}

type Loss = "sft" | "dpo";

/** Paths of flags are relative to the current folder, those of options to the file. */
function flagOverrides(loss: Loss, flags: FineTuneFlags): readonly string[] {
  const path = (name: string, value: string | undefined): string[] =>
    value === undefined
      ? []
      : [`fine_tuning.${name}=${JSON.stringify(value.startsWith("hf:") ? value : resolve(value))}`];
  const { minReward, skipBadRows } = flags;
  return [
    `fine_tuning.loss=${loss}`,
    ...path("train", flags.train),
    ...path("val", flags.val),
    ...path("from_run", flags.fromRun),
    ...(minReward === undefined ? [] : [`fine_tuning.min_reward=${minReward}`]),
    ...(skipBadRows === true ? ["fine_tuning.skip_bad_rows=true"] : []),
  ];
}

/** The flags again, for the command that resumes. */
function flagWords(flags: FineTuneFlags): string[] {
  const { train, val, fromRun, minReward, seed } = flags;
  const given = { train, val, "from-run": fromRun, "min-reward": minReward, seed };
  return Object.entries(given).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}`, String(value)],
  );
}

/** Runs the command; resolves with the exit status. */
export async function fineTuneCommand(
  loss: Loss,
  positional: readonly string[],
  flags: FineTuneFlags,
  io: CliIo,
): Promise<number> {
  const { skipBadRows: _, ...rest } = flags;
  const { configFile, overrides, resume } = readArguments(positional, rest);
  const all = [...overrides, ...flagOverrides(loss, flags)];
  const file = configFile === null ? {} : { file: configFile };
  const loaded = loadConfig({ ...file, overrides: all });
  const { config } = loaded;
  if (flags.dryRun === true) {
    checkExamples({ config, folder: folderOf(config) });
    io.stdout.write(
      flags.json === true
        ? `${JSON.stringify(resolvedAsJson(loaded, "fine-tune"))}\n`
        : formatResolved(loaded, "fine-tune"),
    );
    return exitCodes.done;
  }
  if (flags.preview !== undefined && flags.preview !== false) {
    const preview = await previewFineTune({ config }, flags.preview === true ? 3 : flags.preview);
    io.stdout.write(
      flags.json === true
        ? `${JSON.stringify(preview)}\n`
        : formatPreview(preview, colorsFor(io.stdout)),
    );
    return exitCodes.done;
  }
  using late = createLateErrors(io.stderr);
  const progress = createFineTuneProgress({ stream: io.stderr, isQuiet: flags.quiet === true });
  const start = performance.now();
  using interrupt = watchInterrupt(() => {
    progress.clear();
    io.stderr.write(
      "Stopping; the last completed step is saved. Press Ctrl-C again to quit immediately.\n",
    );
  });
  const result = await fineTune({
    config,
    resume,
    allowChanges: flags.allowChanges === true,
    signal: interrupt.signal,
    onEvent: (event) => progress.onEvent(event),
    onPull: createPullProgress(io.stderr),
  }).finally(() => late.watch());
  progress.clear();
  const seconds = (performance.now() - start) / 1000;
  const { status, steps, totalSteps, best, stoppedEarly, runDir } = result;
  const early = stoppedEarly ? ", stopped early" : "";
  const lowest =
    best === null
      ? ""
      : `lowest validation loss: ${best.value.toFixed(4)} after step ${best.step}\n`;
  io.stdout.write(
    flags.json === true
      ? `${JSON.stringify({ ...result, seconds })}\n`
      : `${status.replaceAll("_", " ")} after ${steps} of ${totalSteps} steps in ${duration(seconds)}${early}\n${lowest}run folder: ${runDir}\n`,
  );
  if (status === "completed" || status === "untrained") return exitCodes.done;
  const row: ReadonlyMap<string, BackendCapabilities> = new Map(Object.entries(capabilityMatrix));
  const canResume = row.get(config.backend)?.exactResume ?? true;
  const words = [loss, ...positional, ...flagWords(flags)];
  const isNamed = config.trainer.experimentName !== null;
  io.stderr.write(`${nextCommand(result, words, isNamed, canResume)}\n`);
  return status === "interrupted" ? exitCodes.interrupted : exitCodes.done;
}
