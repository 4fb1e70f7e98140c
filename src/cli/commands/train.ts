/** `agent-trainer train`: a run from a YAML file. What it needs is loaded when it runs: its help is short. */
import { type CliCommand, defineCommand } from "../define-command.ts";
import { readArguments, type RunFlags, runFlagHelp } from "../load/run-arguments.ts";
import { formatConfigHelp } from "../report/option-help.ts";
import { createPullProgress } from "../terminal/byte-progress.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import { seedNumbers, wholeNumber } from "../terminal/flag-values.ts";
import { watchRunInterrupt } from "../terminal/interrupt.ts";
import { type CliIo, writeResult } from "../terminal/io.ts";
import { createLateErrors } from "../terminal/process-end.ts";
import { endOf } from "../terminal/resume-command.ts";

const examples = `
Examples:
  $ agent-trainer train shop.yaml
  $ agent-trainer train shop.yaml data.train_batch_size=8 training.learning_rate=3e-4
  $ agent-trainer train shop.yaml --dry-run
  $ agent-trainer train shop.yaml --command "python agent.py"
  $ agent-trainer train --explain algorithm.kl_beta
  $ agent-trainer train shop.yaml --resume runs/shop
  $ agent-trainer train shop.yaml --seeds 5
  $ agent-trainer train --env reasoning-gym:gcd model.name=./Qwen3-0.6B

Overrides: key=value sets an option, ~key resets it to its default. Values are YAML.
`;

/** The option alone where there is no file, else with its value in the file. */
async function explain(
  key: string,
  positional: readonly string[],
  flags: RunFlags & { readonly json?: boolean | undefined },
  io: CliIo,
): Promise<number> {
  const { explainedAsJson, formatExplained } = await import("../report/explain.ts");
  const { loadConfig } = await import("../../config/load.ts");
  const { configFile = null, overrides = [] } =
    positional.length === 0 ? {} : readArguments(positional, flags);
  const file = configFile === null ? {} : { file: configFile };
  const loaded = positional.length === 0 ? null : loadConfig({ ...file, overrides });
  writeResult(io, flags.json, explainedAsJson(key, loaded), formatExplained(key, loaded));
  return exitCodes.done;
}

export const command: CliCommand = defineCommand({
  flags: (train) =>
    train
      .argument("[config]", "YAML file with the run's options")
      .argument("[overrides...]", "key=value pairs that override options of the file")
      .option("--resume [runDir]", runFlagHelp.resume)
      .option("--allow-changes", runFlagHelp.allowChanges)
      .option(
        "--env <name>",
        "environment that gives tasks, tools and rewards, as in openenv:URL; the same as env=NAME, and the file may be omitted",
      )
      .option("--dry-run", runFlagHelp.dryRun)
      .option(
        "--explain <key>",
        "explain an option and list the backends that support it, then exit",
      )
      .option("--seed <n>", runFlagHelp.seed, wholeNumber(0))
      .option("--seeds <n>", runFlagHelp.seeds, seedNumbers)
      .option("--command <command>", "command that is the agent; the same as agent_command.run=...")
      .option(
        "--skip-bad-rows",
        "skip dataset rows that cannot be used; the same as dataset.skip_bad_rows=true",
      ),
  help: (columns, words) => `${examples}\n${formatConfigHelp(columns, words.includes("all"))}`,
  async run([config, rest], flags, io) {
    const { json = false, quiet = false } = flags;
    const positional = config === undefined ? [] : [config, ...rest];
    if (flags.explain !== undefined) return explain(flags.explain, positional, flags, io);
    const { folderOf, loadConfig } = await import("../../config/load.ts");
    const { configFile, overrides, resume } = readArguments(positional, flags);
    const source = configFile === null ? ["--env", flags.env ?? ""] : [configFile];
    const words = ["train", ...source, ...overrides];
    if (flags.seeds !== undefined) {
      const { makeSeeds } = await import("../seeds/make-seeds.ts");
      const { seeds, dryRun = false, allowChanges = false } = flags;
      return await makeSeeds(
        {
          ...{ configFile, overrides, seeds, resume, allowChanges },
          ...{ isDryRun: dryRun, isFineTuning: false, words },
        },
        flags,
        io,
      );
    }
    const loaded = loadConfig({ overrides, ...(configFile === null ? {} : { file: configFile }) });
    if (flags.dryRun === true) {
      const { checkFiles } = await import("../../launch/check-files.ts");
      const { checkPrices } = await import("../../trainer/budget/run-prices.ts");
      const { formatResolved, resolvedAsJson } = await import("../report/dry-run.ts");
      checkPrices(loaded.config, loaded.config.backend);
      checkFiles(loaded.config, folderOf(loaded.config));
      writeResult(io, json, resolvedAsJson(loaded, "train"), formatResolved(loaded, "train"));
      return exitCodes.done;
    }
    const { AgentTrainer } = await import("../../launch/agent-trainer.ts");
    const { createProgress, duration } = await import("../terminal/progress.ts");
    using late = createLateErrors(io.stderr);
    const progress = createProgress({ stream: io.stderr, isQuiet: quiet });
    const start = performance.now();
    using interrupt = watchRunInterrupt(io, progress);
    const trainer = new AgentTrainer({
      config: loaded.config,
      resume,
      allowChanges: flags.allowChanges === true,
      signal: interrupt.signal,
      onEvent: (event) => progress.onEvent(event),
      onPull: createPullProgress(io.stderr),
    });
    const result = await trainer.train().finally(() => late.watch());
    progress.clear();
    const seconds = (performance.now() - start) / 1000;
    writeResult(
      io,
      json,
      { ...result, seconds },
      `${result.status.replaceAll("_", " ")} after ${result.steps} of ${result.totalSteps} steps in ${duration(seconds)}\nrun folder: ${result.runDir}\n`,
    );
    return endOf(result, words, trainer.config, io);
  },
});
