/** `agent-trainer train`: a run from a YAML file. */
import type { BackendCapabilities } from "../../core/backend.ts";
import { capabilityMatrix } from "../../core/capabilities.ts";
import { ConfigError } from "../../core/errors.ts";
import { AgentTrainer } from "../../launch/agent-trainer.ts";
import { checkFiles } from "../../launch/check-files.ts";
import { folderOf, type LoadedConfig, loadConfig } from "../../config/load.ts";
import { checkPrices } from "../../trainer/budget/run-prices.ts";
import { resolvedAsJson, formatResolved } from "../report/dry-run.ts";
import { commandOverrides } from "../terminal/command-overrides.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import { explainedAsJson, formatExplained } from "../report/explain.ts";
import { watchInterrupt } from "../terminal/interrupt.ts";
import type { CliIo } from "../terminal/io.ts";
import { createPullProgress } from "../terminal/byte-progress.ts";
import { createLateErrors } from "../terminal/process-end.ts";
import { createProgress, duration } from "../terminal/progress.ts";
import { nextCommand } from "../terminal/resume-command.ts";

export interface TrainFlags {
  /** `true`: the flag without a value. */
  readonly resume?: string | boolean;
  /** Accept changes to options that affect the results of a resumed run. */
  readonly allowChanges?: boolean;
  /** Environment; with it, there may be no file. */
  readonly env?: string;
  readonly dryRun?: boolean;
  /** Key of the option to explain. */
  readonly explain?: string;
  readonly json?: boolean;
  readonly seed?: number;
  readonly command?: string;
  readonly skipBadRows?: boolean;
  readonly quiet?: boolean;
}

interface TrainInput {
  /** null where everything is in flags and overrides. */
  readonly configFile: string | null;
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
  const isOverride = /^[+~]|^[\w.]+=/u.test(rest[0] ?? "");
  const configFile = flags.env !== undefined && isOverride ? null : (rest.shift() ?? null);
  const overrides = rest;
  if (configFile === null && flags.env === undefined) {
    throw new ConfigError({
      message: "train needs a configuration file.",
      hint: "Run: agent-trainer train CONFIG.yaml [key=value ...], or name an environment with --env.",
    });
  }
  if (flags.env !== undefined) overrides.push(`env=${JSON.stringify(flags.env)}`);
  if (flags.seed !== undefined) overrides.push(`trainer.seed=${flags.seed}`);
  if (flags.command !== undefined) overrides.unshift(...commandOverrides(flags.command));
  if (flags.skipBadRows === true) overrides.push("dataset.skip_bad_rows=true");
  return { configFile, overrides, resume };
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
  const loaded = loadConfig({ overrides, ...(configFile === null ? {} : { file: configFile }) });
  if (flags.explain !== undefined) return explainCommand(flags.explain, loaded, flags, io);
  if (flags.dryRun === true) {
    checkPrices(loaded.config, loaded.config.backend);
    checkFiles(loaded.config, folderOf(loaded.config));
    io.stdout.write(
      flags.json === true
        ? `${JSON.stringify(resolvedAsJson(loaded, "train"))}\n`
        : formatResolved(loaded, "train"),
    );
    return exitCodes.done;
  }
  using late = createLateErrors(io.stderr);
  const progress = createProgress({ stream: io.stderr, isQuiet: flags.quiet === true });
  const start = performance.now();
  using interrupt = watchInterrupt(() => {
    progress.clear();
    io.stderr.write(
      "Stopping; the last completed step is saved. Press Ctrl-C again to quit immediately.\n",
    );
  });
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
  if (flags.json === true) {
    io.stdout.write(`${JSON.stringify({ ...result, seconds })}\n`);
  } else {
    io.stdout.write(
      `${result.status.replaceAll("_", " ")} after ${result.steps} of ${result.totalSteps} steps in ${duration(seconds)}\nrun folder: ${result.runDir}\n`,
    );
  }
  if (result.status === "completed" || result.status === "untrained") return exitCodes.done;
  const { backend, trainer: names } = trainer.config;
  const isNamed = names.experimentName !== null;
  const row: ReadonlyMap<string, BackendCapabilities> = new Map(Object.entries(capabilityMatrix));
  const canResume = row.get(backend)?.exactResume ?? true;
  const source = configFile ?? ["--env", flags.env ?? ""];
  const words = ["train", ...[source].flat(), ...overrides];
  io.stderr.write(`${nextCommand(result, words, isNamed, canResume)}\n`);
  return result.status === "interrupted" ? exitCodes.interrupted : exitCodes.done;
}
