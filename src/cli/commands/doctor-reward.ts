/** `agent-trainer doctor reward`: probes the evaluator of a configuration before a model learns to. */
import { folderOf, loadConfig } from "../../config/load.ts";
import { ConfigError } from "../../core/errors.ts";
import type { Task } from "../../core/task.ts";
import type { Episode } from "../../core/trajectory.ts";
import type { TrainConfig } from "../../config/train-config.ts";
import { evaluate } from "../../launch/evaluate/evaluate.ts";
import { readEpisodes } from "../../runs/evaluations/recorded-episodes.ts";
import {
  doctorReward,
  type RewardReport,
} from "../../launch/evaluate/reward-doctor/doctor-reward.ts";
import type { RewardCase } from "../../launch/evaluate/reward-doctor/report.ts";
import { loadEvaluator } from "../../launch/load-evaluator.ts";
import { loadTasks } from "../../launch/run-datasets.ts";
import { type CliCommand, defineCommand } from "../define-command.ts";
import { createPullProgress } from "../terminal/byte-progress.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import { wholeNumber } from "../terminal/flag-values.ts";
import { watchInterrupt } from "../terminal/interrupt.ts";
import { type CliIo, writeResult } from "../terminal/io.ts";
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

/** A small sample of the agent with the model of the configuration: so many tasks, `rollout.n` rollouts each. */
async function sample(
  config: TrainConfig,
  tasks: readonly Task[],
  signal: AbortSignal,
  io: CliIo,
): Promise<Episode[]> {
  const episodes: Episode[] = [];
  io.stderr.write(`Running ${tasks.length * config.rollout.n} rollouts ...\n`);
  await evaluate({
    config,
    dataset: tasks,
    n: config.rollout.n,
    signal,
    onEpisode: (episode) => episodes.push(episode),
    onWarning: (message) => io.stderr.write(`warning: ${safeText(message)}\n`),
    onPull: createPullProgress(io.stderr),
  });
  return episodes;
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
  const { tasks, calls, rollouts, reference, findings, notes } = report;
  const lines = findings.flatMap(({ name, severity, evidence, advice, case: shown }) => [
    "",
    `${severity === "problem" ? colors.red("problem:") : colors.yellow("warning:")} ${colors.bold(name)}`,
    `  ${safeText(evidence)}`,
    ...(shown === null ? [] : shownCase(shown)),
    `  ${advice}`,
  ]);
  const summary = findings.length === 0 ? [colors.green("No faults found.")] : [];
  return [
    `${calls} outputs scored on ${tasks} tasks; reference answer: ${reference ?? "none known"}; real rollouts: ${rollouts}`,
    ...lines,
    ...summary,
    ...notes.map((note) => colors.dim(note)),
    "",
  ].join("\n");
}

const help = `
Scores outputs that should get nothing (empty, the prompt itself, refusals, format without content, long
text, wrong and copied answers, instructions to a judge) and the reference answer in several forms, each
twice and in another order; then longer and longer text. Each fault is shown with the output that it was
found with. No model is called, unless --rollouts asks for a sample of real rollouts.

The exit status is 1 where a problem was found, and 0 where there are only warnings.

Examples:
  $ agent-trainer doctor reward shop.yaml
  $ agent-trainer doctor reward shop.yaml --from runs/shop
  $ agent-trainer doctor reward shop.yaml --rollouts 4 rollout.n=8
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
        "--rollouts <n>",
        "run the agent on this many tasks first, rollout.n times each",
        wholeNumber(1),
      )
      .option("--from <run>", "look at the recorded rollouts of this run or evaluation, too"),
  help,
  async run([file, overrides], flags, io) {
    const { evaluator: given, reference, tasks: maxTasks, rollouts, from, json = false } = flags;
    const { config } = loadConfig({ file, overrides });
    using late = createLateErrors(io.stderr);
    using interrupt = watchInterrupt(io, "Stopping. Press Ctrl-C again to quit immediately.");
    const { signal } = interrupt;
    try {
      const evaluator = await loadEvaluator(config, given);
      const tasks = await tasksOf(config);
      const recorded = from === undefined ? [] : [...readEpisodes(from)];
      const sampled =
        rollouts === undefined ? [] : await sample(config, tasks.slice(0, rollouts), signal, io);
      const line = createLiveLine({ stream: io.stderr, isQuiet: json });
      const report = await doctorReward({
        evaluator,
        tasks,
        episodes: [...recorded, ...sampled],
        maxTasks,
        timeoutMs: config.workflow.evaluatorTimeoutS * 1000,
        signal,
        ...(reference === undefined ? {} : { reference: reference }),
        onProgress: (done, of) => line.show([`${done}/${of} outputs scored`]),
      });
      line.clear();
      writeResult(io, json, report, formatRewardReport(report, colorsFor(io.stdout)));
      const hasProblem = report.findings.some(({ severity }) => severity === "problem");
      return hasProblem ? exitCodes.failed : exitCodes.done;
    } catch (error) {
      if (signal.aborted && error === signal.reason) return exitCodes.interrupted;
      throw error;
    } finally {
      late.watch();
    }
  },
});
