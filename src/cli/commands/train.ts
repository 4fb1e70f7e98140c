/** `agent-trainer train`: a run from a YAML file. */
import { dirname, resolve } from "node:path";
import { ConfigError } from "../../core/errors.ts";
import type { Task } from "../../core/task.ts";
import { AgentTrainer, type AgentTrainerOptions } from "../../trainer/agent-trainer.ts";
import { type LoadedConfig, loadConfig } from "../../config/load.ts";
import type { TrainConfig } from "../../config/train-config.ts";
import { resolvedAsJson, formatResolved } from "../report/dry-run.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import { explainedAsJson, formatExplained } from "../report/explain.ts";
import { watchInterrupt } from "../terminal/interrupt.ts";
import type { CliIo } from "../terminal/io.ts";
import { loadAgent, requireOption } from "../load/load-agent.ts";
import { loadBackend } from "../load/load-backend.ts";
import { loadDataset } from "../load/load-dataset.ts";
import { loadAlgorithms } from "../load/load-algorithms.ts";
import { createLateErrors } from "../terminal/process-end.ts";
import { createProgress, duration } from "../terminal/progress.ts";
import { nextCommand } from "../terminal/resume-command.ts";

export interface TrainFlags {
  /** `true`: the flag without a value. */
  readonly resume?: string | boolean;
  /** Accept changes to options that affect the results of a resumed run. */
  readonly allowChanges?: boolean;
  readonly dryRun?: boolean;
  /** Key of the option to explain. */
  readonly explain?: string;
  readonly json?: boolean;
  readonly seed?: number;
  readonly quiet?: boolean;
}

interface TrainInput {
  readonly configFile: string;
  readonly overrides: readonly string[];
  readonly resume: string | false;
}

/** `--resume` takes an optional value, so it may have consumed the argument that follows it. */
export function readArguments(positional: readonly string[], flags: TrainFlags): TrainInput {
  const rest = [...positional];
  let resume: string | false = flags.resume === true ? "auto" : (flags.resume ?? false);
  if (resume !== false && /\.ya?ml$/u.test(resume)) {
    rest.unshift(resume);
    resume = "auto";
  } else if (resume !== false && /^[+~]|^[\w.]+=/u.test(resume)) {
    rest.push(resume);
    resume = "auto";
  }
  if (flags.allowChanges === true && resume === false) {
    throw new ConfigError({
      message: "--allow-changes has no effect without --resume: a new run may use any options.",
      hint: "Remove it, or add --resume.",
    });
  }
  const [configFile, ...overrides] = rest;
  if (configFile === undefined) {
    throw new ConfigError({
      message: "train needs a configuration file.",
      hint: "Run: agent-trainer train CONFIG.yaml [key=value ...]",
    });
  }
  if (flags.seed !== undefined) overrides.push(`trainer.seed=${flags.seed}`);
  return { configFile, overrides, resume };
}

interface Datasets {
  readonly trainDataset: readonly Task[];
  readonly valDataset?: readonly Task[];
}

async function loadDatasets({ dataset }: TrainConfig, folder: string): Promise<Datasets> {
  const train = requireOption(dataset.train, "dataset.train");
  const trainDataset = await loadDataset(train, folder, "dataset.train");
  if (dataset.val === null) return { trainDataset };
  return { trainDataset, valDataset: await loadDataset(dataset.val, folder, "dataset.val") };
}

function explainCommand(
  key: string,
  loaded: LoadedConfig | null,
  { json }: TrainFlags,
  { stdout }: CliIo,
): number {
  stdout.write(
    json === true
      ? `${JSON.stringify(explainedAsJson(key, loaded))}\n`
      : formatExplained(key, loaded),
  );
  return exitCodes.done;
}

/** Runs the command; resolves with the exit status. */
export async function trainCommand(
  positional: readonly string[],
  flags: TrainFlags,
  io: CliIo,
): Promise<number> {
  if (flags.explain !== undefined && positional.length === 0) {
    return explainCommand(flags.explain, null, flags, io);
  }
  const { configFile, overrides, resume } = readArguments(positional, flags);
  const loaded = loadConfig({ file: configFile, overrides });
  if (flags.explain !== undefined) return explainCommand(flags.explain, loaded, flags, io);
  if (flags.dryRun === true) {
    io.stdout.write(
      flags.json === true ? `${JSON.stringify(resolvedAsJson(loaded))}\n` : formatResolved(loaded),
    );
    return exitCodes.done;
  }
  const folder = dirname(resolve(configFile));
  const way = await loadAgent(loaded.config, folder);
  const algorithms = await loadAlgorithms(loaded.config, folder);
  const datasets = await loadDatasets(loaded.config, folder);
  using late = createLateErrors(io.stderr);
  await using backend = await loadBackend(loaded.config, folder);
  const progress = createProgress({ stream: io.stderr, isQuiet: flags.quiet === true });
  const start = performance.now();
  using interrupt = watchInterrupt(() => {
    progress.clear();
    io.stderr.write(
      "Stopping; the last completed step is saved. Press Ctrl-C again to quit immediately.\n",
    );
  });
  const options: AgentTrainerOptions = {
    ...way,
    ...datasets,
    backend,
    config: loaded.config,
    resume,
    allowChanges: flags.allowChanges === true,
    signal: interrupt.signal,
    onEvent: (event) => progress.onEvent(event),
  };
  const trainer = new AgentTrainer(options, { algorithms });
  const result = await trainer.train().finally(() => late.watch());
  progress.clear();
  const seconds = (performance.now() - start) / 1000;
  if (flags.json === true) {
    io.stdout.write(`${JSON.stringify({ ...result, seconds })}\n`);
  } else {
    io.stdout.write(
      `${result.status} after ${result.steps} of ${result.totalSteps} steps in ${duration(seconds)}\nrun folder: ${result.runDir}\n`,
    );
  }
  if (result.status !== "interrupted") return exitCodes.done;
  const isNamed = trainer.config.trainer.experimentName !== null;
  io.stderr.write(`${nextCommand(result, ["train", configFile, ...overrides], isNamed)}\n`);
  return exitCodes.interrupted;
}
