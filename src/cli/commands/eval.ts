/** `agent-trainer eval`: the agent of a YAML file against any model, without training. */
import { randomBytes } from "node:crypto";
import { join, resolve } from "node:path";
import { loadConfig } from "../../config/load.ts";
import { ConfigError } from "../../core/errors.ts";
import { evaluate } from "../../launch/evaluate/evaluate.ts";
import { isEvaluation } from "../../runs/evaluations/evaluation-folder.ts";
import { formatEvaluation } from "../report/evaluation-table.ts";
import { createPullProgress } from "../terminal/byte-progress.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import { watchInterrupt } from "../terminal/interrupt.ts";
import type { CliIo } from "../terminal/io.ts";
import { createItemProgress } from "../terminal/item-progress.ts";
import { createLateErrors } from "../terminal/process-end.ts";
import { commandLine } from "../terminal/resume-command.ts";
import { type EndpointFlags, evaluatedModel, flagOverrides } from "./evaluated-model.ts";

export interface EvalFlags extends EndpointFlags {
  readonly n?: number;
  readonly limit?: number;
  readonly concurrency?: number;
  readonly dataset?: string;
  readonly output?: string;
  /** Folder of the evaluation to resume. */
  readonly resume?: string;
  readonly seed?: number;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

function newFolder(): string {
  const time = new Date().toISOString().slice(0, 19).replaceAll(":", "-");
  return join("evals", `${time}-${randomBytes(3).toString("hex")}`);
}

/** The command that resumes: everything as before, and the folder. */
function resumeLine(positional: readonly string[], flags: EvalFlags, folder: string): string {
  const { model, modelName, keyEnv, n, limit, concurrency, dataset, seed } = flags;
  const given = {
    model,
    "model-name": modelName,
    "key-env": keyEnv,
    n,
    limit,
    concurrency,
    dataset,
  };
  const rest = Object.entries({ ...given, seed }).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}`, String(value)],
  );
  return commandLine(["eval", ...positional, ...rest, "--resume", folder]);
}

/** Runs the command; resolves with the exit status. */
export async function evalCommand(
  positional: readonly string[],
  flags: EvalFlags,
  io: CliIo,
): Promise<number> {
  const { dataset, resume, output, n, limit, concurrency, seed } = flags;
  if (resume !== undefined && output !== undefined) {
    throw new ConfigError({
      message:
        "--resume and --output cannot be combined: a resumed evaluation stays in its folder.",
      hint: "Remove one of them.",
    });
  }
  const [file, ...given] = positional as [string, ...string[]];
  const overrides = [
    ...flagOverrides(flags),
    ...given,
    ...(dataset === undefined ? [] : [`dataset.val=${JSON.stringify(resolve(dataset))}`]),
  ];
  const evaluated = evaluatedModel(flags);
  const { config } = loadConfig({ file, overrides });
  const folder = resume ?? output ?? newFolder();
  const progress = createItemProgress({ stream: io.stderr, isQuiet: flags.quiet === true });
  using late = createLateErrors(io.stderr);
  using interrupt = watchInterrupt(() => {
    progress.clear();
    io.stderr.write(
      "Stopping; the results so far are saved. Press Ctrl-C again to quit immediately.\n",
    );
  });
  const numbers = Object.entries({ n, limit, concurrency, seed }).filter(
    ([, value]) => value !== undefined,
  );
  const sayHow = (): void => {
    progress.clear();
    io.stderr.write(`To resume: ${resumeLine(positional, flags, folder)}\n`);
  };
  // What an earlier process recorded, or this one did: without it, there is nothing to resume.
  let hasResults = resume !== undefined;
  const result = await evaluate({
    config,
    folder,
    resume: resume !== undefined,
    ...(evaluated === undefined ? {} : { model: evaluated }),
    ...Object.fromEntries(numbers),
    signal: interrupt.signal,
    onResult: (item, how) => {
      hasResults = true;
      progress.onResult(item, how);
    },
    onWarning: (message) => progress.onWarning(message),
    onPull: createPullProgress(io.stderr),
  })
    .catch((error: unknown) => {
      progress.clear();
      if (hasResults && isEvaluation(folder)) sayHow();
      throw error;
    })
    .finally(() => late.watch());
  progress.clear();
  io.stdout.write(
    flags.json === true
      ? `${JSON.stringify({ ...result.summary, folder })}\n`
      : `${formatEvaluation(result.summary)}results: ${folder}\n`,
  );
  if (result.status !== "interrupted") return exitCodes.done;
  sayHow();
  return exitCodes.interrupted;
}
