/** `agent-trainer gate`: whether a candidate is better than the model in use, as an exit status and a report. */
import { resolve } from "node:path";
import { loadConfig } from "../../config/load.ts";
import { ConfigError } from "../../core/errors.ts";
import { gate } from "../../launch/evaluate/gate.ts";
import { isEvaluation } from "../../runs/evaluations/evaluation-folder.ts";
import { gateFolders } from "../../runs/evaluations/gate-folders.ts";
import type { GateRule } from "../../runs/evaluations/gate-rule.ts";
import { defined } from "../../util/defined.ts";
import { type CliCommand, defineCommand } from "../define-command.ts";
import { evaluatedModel, flagOverrides } from "../load/evaluated-model.ts";
import { newFolder } from "../load/new-folder.ts";
import { formatGate } from "../report/gate-table.ts";
import { createPullProgress } from "../terminal/byte-progress.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import { anyNumber, numberBetween, wholeNumber, repeated } from "../terminal/flag-values.ts";
import { watchInterrupt } from "../terminal/interrupt.ts";
import { createItemProgress } from "../terminal/item-progress.ts";
import { createLateErrors } from "../terminal/process-end.ts";
import { writeResult } from "../terminal/io.ts";

const help = `
Exits with 0 where the candidate is better, with 1 where it is not.

Examples:
  $ agent-trainer gate evals/in-use evals/candidate
  $ agent-trainer gate runs/shop/best runs/shop-2 --config shop.yaml --regressions regressions.jsonl --grow
  $ agent-trainer gate evals/in-use evals/candidate --slice language --max-slice-loss 0.02 --json
  $ agent-trainer gate evals/in-use evals/candidate --min-gain -0.02 --max-cost 0.8
`;

const positive = numberBetween(Number.MIN_VALUE, Number.MAX_VALUE);
const atLeastZero = numberBetween(0, Number.MAX_VALUE);

interface ModelFlags {
  readonly config?: string;
  readonly dataset?: string;
  readonly output?: string;
  readonly n?: number;
}

/** @throws ConfigError for what only an evaluation could take, where both are recorded already. */
function refuseWithFolders(flags: ModelFlags, overrides: readonly string[]): void {
  const found = Object.entries(flags).find(([, value]) => value !== undefined)?.[0];
  if (found === undefined && overrides.length === 0) return;
  throw new ConfigError({
    message: `${found === undefined ? overrides.join(" ") : `--${found}`} has no effect: both models are given as evaluations, and nothing is evaluated.`,
    hint: "Leave it out, or name a model in place of an evaluation.",
  });
}

/** Prices of the configuration, in the unit that it has them. */
function pricesOf({ prompt, sampled }: { prompt: number | null; sampled: number | null }) {
  return prompt === null || sampled === null ? {} : { prices: { prompt, sampled } };
}

export const command: CliCommand = defineCommand({
  flags: (decide) =>
    decide
      .argument("<current>", "the model in use: folder of an evaluation, or a model as in eval")
      .argument("<candidate>", "the model that may take its place, likewise")
      .argument("[overrides...]", "key=value pairs that override options of --config")
      .option("--config <file>", "YAML file with agent, evaluator and dataset, as for eval")
      .option("--dataset <file>", "held-out tasks (default: dataset.val)")
      .option("--n <n>", "attempts at each task (default: rollout.n_val)", wholeNumber(1))
      .option("--output <folder>", "folder for evaluations and gate.json (default: in gates/)")
      .option("--regressions <file>", "JSONL file of tasks that must stay solved")
      .option("--grow", "add what a better candidate newly solves to --regressions")
      .option("--min-gain <x>", "gain that the interval must lie above (default: 0)", anyNumber)
      .option("--slice <field>", "field of the tasks (default: data_source); repeatable", repeated)
      .option(
        "--max-slice-loss <x>",
        "mean reward that a slice may lose (default: 0.05)",
        atLeastZero,
      )
      .option(
        "--min-slice-tasks <n>",
        "slices of fewer tasks decide nothing (default: 6)",
        wholeNumber(1),
      )
      .option(
        "--max-regressions <n>",
        "tasks of --regressions that may be lost (default: 0)",
        wholeNumber(0),
      )
      .option("--max-cost <x>", "cost per attempt, as a multiple (default: no limit)", positive)
      .option("--max-latency <x>", "time per attempt, as a multiple (default: no limit)", positive)
      .option("--seed <n>", "random seed of the intervals (default: 0)", wholeNumber(0)),
  help,
  async run([current, candidate, overrides], flags, io) {
    const { json = false, quiet = false, config: file, dataset, output, n } = flags;
    const { regressions, grow, minGain, slice, maxSliceLoss, minSliceTasks } = flags;
    const { maxRegressions, maxCost, maxLatency, seed } = flags;
    const limits: GateRule = defined({
      ...{ minGain, slices: slice, maxSliceLoss, minSliceTasks },
      ...{ maxRegressions, maxCost, maxLatency, seed },
    });
    const set = defined({ regressions, grow });
    const say = (result: Awaited<ReturnType<typeof gate>>, folder?: string): number => {
      const where = folder === undefined ? "" : `results: ${folder}\n`;
      writeResult(io, json, { ...result, ...defined({ folder }) }, `${formatGate(result)}${where}`);
      return result.verdict === "better" ? exitCodes.done : exitCodes.failed;
    };
    if (isEvaluation(current) && isEvaluation(candidate)) {
      refuseWithFolders(defined({ config: file, dataset, output, n }), overrides);
      return say(gateFolders({ current, candidate, ...set }, limits));
    }
    if (file === undefined) {
      const model = isEvaluation(current) ? candidate : current;
      throw new ConfigError({
        message: `${model} is not the folder of an evaluation, so it has to be evaluated, but no configuration says how.`,
        hint: "Add --config FILE, with agent, evaluator and held-out tasks as for eval.",
        fields: { path: model },
      });
    }
    const { config } = loadConfig({
      file,
      overrides: [
        ...flagOverrides({ model: candidate }),
        ...overrides,
        ...(dataset === undefined ? [] : [`dataset.val=${JSON.stringify(resolve(dataset))}`]),
      ],
    });
    const folder = output ?? newFolder("gates");
    const progress = createItemProgress({ stream: io.stderr, isQuiet: quiet });
    using late = createLateErrors(io.stderr);
    using interrupt = watchInterrupt(
      io,
      "Stopping; results so far are saved. Press Ctrl-C again to quit at once.",
      progress,
    );
    const modelOf = (given: string) => evaluatedModel({ model: given }) ?? given;
    const result = await gate({
      config,
      folder,
      current: modelOf(current),
      candidate: modelOf(candidate),
      rule: { ...pricesOf(config.budget.prices), ...limits },
      ...set,
      ...defined({ n }),
      signal: interrupt.signal,
      onResult: (item, how) => progress.onResult(item, how),
      onWarning: (message) => progress.onWarning(message),
      onPull: createPullProgress(io.stderr),
    }).finally(() => {
      progress.clear();
      late.watch();
    });
    return say(result, folder);
  },
});
