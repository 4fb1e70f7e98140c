/** What the words and flags of `train`, `sft`, `dpo` and `kto` name: a file, options, and a run to resume. */
import { ConfigError } from "../../core/errors.ts";
import { commandOverrides } from "./evaluated-model.ts";

export interface RunFlags {
  /** `true`: the flag without a value. */
  readonly resume?: string | boolean | undefined;
  /** Accept changes to options that affect the results of a resumed run. */
  readonly allowChanges?: boolean | undefined;
  /** Environment; with it, there may be no file. */
  readonly env?: string | undefined;
  readonly seed?: number | undefined;
  readonly command?: string | undefined;
  readonly skipBadRows?: boolean | undefined;
}

export interface RunArguments {
  /** null where everything is in flags and overrides. */
  readonly configFile: string | null;
  readonly overrides: readonly string[];
  readonly resume: string | false;
}

/** `--resume` takes an optional value, so it may have consumed the argument that follows it. */
export function readArguments(positional: readonly string[], flags: RunFlags): RunArguments {
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

/** Of flags that both have. */
export const runFlagHelp = {
  resume: "resume the run in this folder (default: the latest)",
  allowChanges:
    "with --resume: accept changed options that affect the results, and record the changes",
  dryRun:
    "print the resolved options and the source of each, look for the files they name, then exit",
  seed: "random seed of the run; the same as trainer.seed=n",
  seeds: "a run for each of n seeds, or of a list: 3,7,9",
} as const;
