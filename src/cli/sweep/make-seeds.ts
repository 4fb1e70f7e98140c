/** `--seeds` of `train`, `sft`, `dpo` and `kto`: the same run with several seeds. */
import { ConfigError } from "../../core/errors.ts";
import type { ResumeMode } from "../../runs/run-directory.ts";
import type { CliIo } from "../terminal/io.ts";
import { makeSweep, type SweepCommand } from "./make-sweep.ts";

interface SeedRuns extends Pick<
  SweepCommand,
  "configFile" | "overrides" | "isDryRun" | "isFineTuning"
> {
  readonly seeds: number | readonly number[];
  readonly resume: ResumeMode;
  readonly allowChanges: boolean;
  /** How the command was called, without `--seeds` and `--resume`. */
  readonly words: readonly string[];
}

/** @returns the exit status */
export async function makeSeeds(
  { seeds, resume, allowChanges, words, ...runs }: SeedRuns,
  flags: Parameters<typeof makeSweep>[1],
  io: CliIo,
): Promise<number> {
  if (allowChanges) {
    throw new ConfigError({
      message: "--allow-changes and --seeds cannot be combined: all seeds have the same options.",
      hint: "Start another folder: set trainer.experiment_name.",
    });
  }
  const named = { folder: typeof resume === "string" && resume !== "auto" ? resume : null };
  return await makeSweep(
    {
      ...runs,
      ...named,
      ...{ seeds, resume: resume !== false, name: null, suffix: "seeds" },
      words: [...words, "--seeds", String(seeds)],
    },
    flags,
    io,
  );
}
