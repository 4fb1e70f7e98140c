/** What `agent-trainer sft`, `dpo` and `kto` share: a model learns from examples. */
import { resolve } from "node:path";
import { folderOf, loadConfig } from "../../config/load.ts";
import type { TrainConfig } from "../../config/train-config.ts";
import { checkExamples } from "../../launch/finetune/examples/load-examples.ts";
import { fineTune } from "../../launch/finetune/fine-tune.ts";
import { previewFineTune } from "../../launch/finetune/preview.ts";
import { type CliCommand, defineCommand } from "../define-command.ts";
import { readArguments, runFlagHelp } from "../load/run-arguments.ts";
import { formatResolved, resolvedAsJson } from "../report/dry-run.ts";
import { formatPreview } from "../report/fine-tune-preview.ts";
import { createPullProgress } from "../terminal/byte-progress.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import { createFineTuneProgress } from "../terminal/fine-tune-progress.ts";
import { anyNumber, seedNumbers, wholeNumber } from "../terminal/flag-values.ts";
import { watchRunInterrupt } from "../terminal/interrupt.ts";
import { createLateErrors } from "../terminal/process-end.ts";
import { duration } from "../terminal/progress.ts";
import { endOf } from "../terminal/resume-command.ts";
import { colorsFor } from "../terminal/terminal.ts";
import { writeResult } from "../terminal/io.ts";

interface ExampleFlags {
  readonly train?: string | undefined;
  readonly val?: string | undefined;
  readonly fromRun?: string | undefined;
  readonly minReward?: number | undefined;
}

type Loss = "sft" | "dpo" | "kto";

/** Paths of flags are relative to the current folder, those of options to the file. */
function flagOverrides(loss: Loss, flags: ExampleFlags, skipBadRows: boolean): readonly string[] {
  const path = (name: string, value: string | undefined): string[] =>
    value === undefined
      ? []
      : [`fine_tuning.${name}=${JSON.stringify(value.startsWith("hf:") ? value : resolve(value))}`];
  const { minReward } = flags;
  return [
    `fine_tuning.loss=${loss}`,
    ...path("train", flags.train),
    ...path("val", flags.val),
    ...path("from_run", flags.fromRun),
    ...(minReward === undefined ? [] : [`fine_tuning.min_reward=${minReward}`]),
    ...(skipBadRows ? ["fine_tuning.skip_bad_rows=true"] : []),
  ];
}

/** The flags again, for the command that resumes. */
function flagWords(
  { train, val, fromRun, minReward }: ExampleFlags,
  seed: number | undefined,
): string[] {
  const given = { train, val, "from-run": fromRun, "min-reward": minReward, seed };
  return Object.entries(given).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}`, String(value)],
  );
}

function bestOf({ fineTuning, trainer }: TrainConfig): string {
  return fineTuning.rewards && trainer.bestMetric !== "val/loss"
    ? `highest ${trainer.bestMetric}`
    : "lowest validation loss";
}

export const fineTuneCommand = (loss: Loss, help: string): CliCommand =>
  defineCommand({
    flags: (fineTuning) =>
      fineTuning
        .argument("<config>", "YAML file with the model and the options of training")
        .argument("[overrides...]", "key=value pairs that override options of the file")
        .option("--train <file>", "examples to train on; the same as fine_tuning.train=file")
        .option("--val <file>", "held-out examples; the same as fine_tuning.val=file")
        .option(
          "--from-run <folder>",
          "train on recorded episodes of this run or evaluation, with the tokens that were captured",
        )
        .option("--min-reward <x>", "with --from-run: minimum reward of an episode", anyNumber)
        .option(
          "--preview [n]",
          "show the first n examples (default: 3) and which tokens are trained on, then exit",
          wholeNumber(1),
        )
        .option("--dry-run", runFlagHelp.dryRun)
        .option("--resume [runDir]", runFlagHelp.resume)
        .option("--allow-changes", runFlagHelp.allowChanges)
        .option("--seed <n>", runFlagHelp.seed, wholeNumber(0))
        .option("--seeds <n>", runFlagHelp.seeds, seedNumbers)
        .option(
          "--skip-bad-rows",
          "skip examples that cannot be used; the same as fine_tuning.skip_bad_rows=true",
        ),
    help,
    async run([config, words], given, io) {
      const { skipBadRows = false, preview, dryRun, json = false, quiet = false, ...flags } = given;
      const positional = [config, ...words];
      const { configFile, overrides, resume } = readArguments(positional, flags);
      const all = [...overrides, ...flagOverrides(loss, flags, skipBadRows)];
      if (flags.seeds !== undefined && preview === undefined) {
        const { makeSeeds } = await import("../seeds/make-seeds.ts");
        const { seeds, allowChanges = false } = flags;
        return await makeSeeds(
          {
            ...{ configFile, overrides: all, seeds, resume, allowChanges },
            ...{ isDryRun: dryRun === true, isFineTuning: true },
            words: [loss, ...positional, ...flagWords(flags, undefined)],
          },
          { json, quiet },
          io,
        );
      }
      const file = configFile === null ? {} : { file: configFile };
      const loaded = loadConfig({ ...file, overrides: all });
      if (dryRun) {
        checkExamples({ config: loaded.config, folder: folderOf(loaded.config) });
        writeResult(
          io,
          json,
          resolvedAsJson(loaded, "fine-tune"),
          formatResolved(loaded, "fine-tune"),
        );
        return exitCodes.done;
      }
      if (preview !== undefined) {
        const shown = await previewFineTune(
          { config: loaded.config },
          preview === true ? 3 : preview,
        );
        writeResult(io, json, shown, formatPreview(shown, colorsFor(io.stdout)));
        return exitCodes.done;
      }
      using late = createLateErrors(io.stderr);
      const progress = createFineTuneProgress({ stream: io.stderr, isQuiet: quiet });
      const start = performance.now();
      using interrupt = watchRunInterrupt(io, progress);
      const result = await fineTune({
        config: loaded.config,
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
          : `${bestOf(loaded.config)}: ${best.value.toFixed(4)} after step ${best.step}\n`;
      writeResult(
        io,
        json,
        { ...result, seconds },
        `${status.replaceAll("_", " ")} after ${steps} of ${totalSteps} steps in ${duration(seconds)}${early}\n${lowest}run folder: ${runDir}\n`,
      );
      const again = [loss, ...positional, ...flagWords(flags, flags.seed)];
      return endOf(result, again, loaded.config, io);
    },
  });
