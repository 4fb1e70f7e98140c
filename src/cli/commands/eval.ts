/** `agent-trainer eval`: the agent of a YAML file against any model, without training. */
import { resolve } from "node:path";
import { loadConfig } from "../../config/load.ts";
import { ConfigError } from "../../core/errors.ts";
import { evaluate } from "../../launch/evaluate/evaluate.ts";
import { isEvaluation } from "../../runs/evaluations/evaluation-folder.ts";
import { defined } from "../../util/defined.ts";
import { type CliCommand, defineCommand } from "../define-command.ts";
import { endpointHelp, evaluatedModel, flagOverrides } from "../load/evaluated-model.ts";
import { newFolder } from "../load/new-folder.ts";
import { formatEvaluation } from "../report/evaluation-table.ts";
import { createPullProgress } from "../terminal/byte-progress.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import { wholeNumber } from "../terminal/flag-values.ts";
import { watchInterrupt } from "../terminal/interrupt.ts";
import { createItemProgress } from "../terminal/item-progress.ts";
import { createLateErrors } from "../terminal/process-end.ts";
import { commandLine } from "../terminal/resume-command.ts";
import { writeResult } from "../terminal/io.ts";

const help = `
Examples:
  $ agent-trainer eval shop.yaml
  $ agent-trainer eval shop.yaml --model runs/shop --n 4
  $ agent-trainer eval shop.yaml --model runs/shop/checkpoints/000010 --json
  $ agent-trainer eval shop.yaml --model http://localhost:8000/v1 --limit 20
  $ agent-trainer eval shop.yaml --command "python agent.py"
  $ agent-trainer eval shop.yaml --model https://api.openai.com/v1 --model-name gpt-4o-mini --key-env OPENAI_API_KEY
  $ agent-trainer eval shop.yaml --resume evals/2026-01-31T12-00-00-1a2b3c

Sampling options are those of rollout.val; overrides as for train: rollout.val.temperature=0.6
`;

/** The command that resumes: everything as before, and the folder. */
function resumeLine(
  positional: readonly string[],
  flags: Readonly<Record<string, string | number | undefined>>,
  folder: string,
): string {
  const given = Object.entries(flags).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}`, String(value)],
  );
  return commandLine(["eval", ...positional, ...given, "--resume", folder]);
}

export const command: CliCommand = defineCommand({
  flags: (evaluation) =>
    evaluation
      .option("--model <model>", endpointHelp.model)
      .option("--model-name <name>", endpointHelp.modelName)
      .option("--key-env <variable>", endpointHelp.keyEnv)
      .option("--command <command>", endpointHelp.command)
      .argument("<config>", "YAML file with agent, evaluator and dataset, as for train")
      .argument("[overrides...]", "key=value pairs that override options of the file")
      .option("--n <n>", "attempts at each task (default: rollout.n_val)", wholeNumber(1))
      .option("--limit <n>", "evaluate the first n tasks only", wholeNumber(1))
      .option(
        "--concurrency <n>",
        "attempts running at the same time (default: workflow.n_parallel_tasks)",
        wholeNumber(1),
      )
      .option("--dataset <file>", "tasks to evaluate on (default: dataset.val)")
      .option("--output <folder>", "folder for the results (default: a new one in evals/)")
      .option("--resume <folder>", "resume the evaluation in this folder")
      .option("--seed <n>", "random seed (default: trainer.seed)", wholeNumber(0)),
  help,
  async run([file, overrides], { json = false, quiet = false, ...flags }, io) {
    const { dataset, resume, output, n, limit, concurrency, seed } = flags;
    if (resume !== undefined && output !== undefined) {
      throw new ConfigError({
        message:
          "--resume and --output cannot be combined: a resumed evaluation stays in its folder.",
        hint: "Remove one of them.",
      });
    }
    const all = [
      ...flagOverrides(flags),
      ...overrides,
      ...(dataset === undefined ? [] : [`dataset.val=${JSON.stringify(resolve(dataset))}`]),
    ];
    const evaluated = evaluatedModel(flags);
    const { config } = loadConfig({ file, overrides: all });
    const folder = resume ?? output ?? newFolder("evals");
    const progress = createItemProgress({ stream: io.stderr, isQuiet: quiet });
    using late = createLateErrors(io.stderr);
    using interrupt = watchInterrupt(
      io,
      "Stopping; the results so far are saved. Press Ctrl-C again to quit immediately.",
      progress,
    );
    const sayHow = (): void => {
      progress.clear();
      const endpoint = {
        model: flags.model,
        "model-name": flags.modelName,
        "key-env": flags.keyEnv,
        command: flags.command,
      };
      const again = { ...endpoint, n, limit, concurrency, dataset, seed };
      io.stderr.write(`To resume: ${resumeLine([file, ...overrides], again, folder)}\n`);
    };
    // What an earlier process recorded, or this one did: without it, there is nothing to resume.
    let hasResults = resume !== undefined;
    const result = await evaluate({
      config,
      folder,
      resume: resume !== undefined,
      ...defined({ model: evaluated, n, limit, concurrency, seed }),
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
    writeResult(
      io,
      json,
      { ...result.summary, folder },
      `${formatEvaluation(result.summary)}results: ${folder}\n`,
    );
    if (result.status === "completed") return exitCodes.done;
    sayHow();
    return result.status === "interrupted" ? exitCodes.interrupted : exitCodes.done;
  },
});
