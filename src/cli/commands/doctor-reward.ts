/** `agent-trainer doctor reward`: probes the evaluator of a configuration before a model learns to. */
import { folderOf, loadConfig } from "../../config/load.ts";
import { ConfigError } from "../../core/errors.ts";
import type { Task } from "../../core/task.ts";
import type { TrainConfig } from "../../config/train-config.ts";
import { readEpisodes } from "../../runs/evaluations/recorded-episodes.ts";
import {
  doctorReward,
  type RewardReport,
} from "../../launch/evaluate/reward-doctor/doctor-reward.ts";
import type { RewardCase } from "../../launch/evaluate/reward-doctor/report.ts";
import { loadEvaluator } from "../../launch/load-evaluator.ts";
import { loadTasks } from "../../launch/run-datasets.ts";
import { type CliCommand, defineCommand } from "../define-command.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import { wholeNumber } from "../terminal/flag-values.ts";
import { watchInterrupt } from "../terminal/interrupt.ts";
import { writeResult } from "../terminal/io.ts";
import { createLateErrors } from "../terminal/process-end.ts";
import { createLiveLine } from "../terminal/live-line.ts";
import { type Colors, colorsFor, safeText } from "../terminal/terminal.ts";

async function tasksOf(config: TrainConfig): Promise<readonly Task[]> {
  const { train, val } = config.dataset;
  if (train === null && val === null) {
    throw new ConfigError({
      message: "There are no tasks to probe with: neither dataset.train nor dataset.val is set.",
      hint: "Set one of them in the configuration.",
      fields: { option: "dataset.train" },
    });
  }
  const { trainTasks, valTasks } = await loadTasks(config, folderOf(config), {});
  return train === null ? valTasks : [...trainTasks];
}

/** The output of the first rollout that has one; undefined without a run. */
function outputOf(run: string | undefined): unknown {
  if (run === undefined) return undefined;
  for (const { output } of readEpisodes(run)) if (output !== undefined) return output;
  return undefined;
}

const shownCharacters = 200;

function shownCase({ taskId, probe, output, length, reward, error }: RewardCase): string[] {
  const text = safeText(output.slice(0, shownCharacters)).replaceAll("\n", "\\n");
  const more = length > shownCharacters ? ` ... (${length} characters)` : "";
  const score =
    error === undefined
      ? reward === null
        ? []
        : [`  reward  ${reward}`]
      : [`  error   ${safeText(error)}`];
  return [`  task    ${safeText(taskId)}, ${probe}`, `  output  "${text}"${more}`, ...score];
}

function formatRewardReport(report: RewardReport, colors: Colors): string {
  const { tasks, calls, reference, findings, notes } = report;
  const lines = findings.flatMap(({ name, evidence, advice, case: shown }) => [
    "",
    `${colors.red("problem:")} ${colors.bold(name)}`,
    `  ${safeText(evidence)}`,
    ...shownCase(shown),
    `  ${advice}`,
  ]);
  const summary = findings.length === 0 ? [colors.green("No faults found.")] : [];
  return [
    `${calls} outputs scored on ${tasks} tasks; reference answer: ${reference ?? "none known"}`,
    ...lines,
    ...summary,
    ...notes.map((note) => colors.dim(note)),
    "",
  ].join("\n");
}

const help = `
Scores outputs that should get nothing (empty, the prompt itself, refusals, format without content, long
text, wrong and copied answers, instructions to a judge) and the reference answer in several forms, each
twice and in another order. Each fault is shown with the output that it was found with. No model is called.

The exit status is 1 where a problem was found.

Examples:
  $ agent-trainer doctor reward shop.yaml
  $ agent-trainer doctor reward shop.yaml --from runs/shop
  $ agent-trainer doctor reward shop.yaml --evaluator new-evaluator.ts --tasks 20 --json
`;

/** Resolves with 1 when there is a problem. */
export const command: CliCommand = defineCommand({
  flags: (reward) =>
    reward
      .argument("<config.yaml>", "configuration with an evaluator and a dataset")
      .argument("[overrides...]", "options as key=value")
      .option("--evaluator <path#export>", "another evaluator than that of the configuration")
      .option(
        "--reference <field>",
        "field of a task's row with the reference answer (default: answer, solution ...)",
      )
      .option("--tasks <n>", "tasks that are probed", wholeNumber(1), 8)
      .option(
        "--from <run>",
        "give outputs the form of those in this run or evaluation (default: a text)",
      ),
  help,
  async run([file, overrides], flags, io) {
    const { evaluator: given, reference, tasks: maxTasks, from, json = false } = flags;
    const { config } = loadConfig({ file, overrides });
    using late = createLateErrors(io.stderr);
    using interrupt = watchInterrupt(io, "Stopping. Press Ctrl-C again to quit immediately.");
    const { signal } = interrupt;
    try {
      const evaluator = await loadEvaluator(config, given);
      const tasks = await tasksOf(config);
      const line = createLiveLine({ stream: io.stderr, isQuiet: json });
      const report = await doctorReward({
        evaluator,
        tasks,
        output: outputOf(from),
        maxTasks,
        timeoutMs: config.workflow.evaluatorTimeoutS * 1000,
        signal,
        ...(reference === undefined ? {} : { reference: reference }),
        onProgress: (done, of) => line.show([`${done}/${of} outputs scored`]),
      });
      line.clear();
      writeResult(io, json, report, formatRewardReport(report, colorsFor(io.stdout)));
      return report.findings.length > 0 ? exitCodes.failed : exitCodes.done;
    } catch (error) {
      if (signal.aborted && error === signal.reason) return exitCodes.interrupted;
      throw error;
    } finally {
      late.watch();
    }
  },
});
