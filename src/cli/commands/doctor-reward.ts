/** `agent-trainer doctor reward`: probes the evaluator of a configuration before a model learns to. */
import { folderOf, loadConfig } from "../../config/load.ts";
import type { Evaluator } from "../../core/agent.ts";
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
import { loadAgent } from "../../launch/load-agent.ts";
import { loadExport } from "../../launch/load-module.ts";
import { loadTasks } from "../../launch/run-datasets.ts";
import { createPullProgress } from "../terminal/byte-progress.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import { watchInterrupt } from "../terminal/interrupt.ts";
import type { CliIo } from "../terminal/io.ts";
import { createLateErrors } from "../terminal/process-end.ts";
import { canRewrite, type Colors, colorsFor, safeText } from "../terminal/terminal.ts";
import { isGiven } from "../../util/given.ts";

export interface DoctorRewardFlags {
  readonly json?: boolean;
  readonly evaluator?: string;
  readonly reference?: string;
  readonly tasks: number;
  readonly rollouts?: number;
  readonly from?: string;
}

async function evaluatorOf(config: TrainConfig, flags: DoctorRewardFlags): Promise<Evaluator> {
  const spec = flags.evaluator ?? config.evaluator;
  if (spec !== null) {
    const folder = flags.evaluator === undefined ? folderOf(config) : process.cwd();
    const option = flags.evaluator === undefined ? "evaluator" : "--evaluator";
    const found = await loadExport({ spec, folder, option, defaults: ["evaluator", "default"] });
    return found as Evaluator;
  }
  const own = await loadAgent(config, folderOf(config), true);
  if (isGiven(own.evaluator)) return own.evaluator;
  throw new ConfigError({
    message: "evaluator is not set, so there is nothing to probe.",
    hint: "Set evaluator=path#export, or pass --evaluator. An agent that returns its own reward is looked at with --rollouts, or with --from RUN and an evaluator.",
    fields: { option: "evaluator" },
  });
}

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

/** Runs the command; resolves with 1 when there is a problem. */
export async function doctorRewardCommand(
  positional: readonly string[],
  flags: DoctorRewardFlags,
  io: CliIo,
): Promise<number> {
  const [file, ...overrides] = positional as [string, ...string[]];
  const { config } = loadConfig({ file, overrides });
  using late = createLateErrors(io.stderr);
  using interrupt = watchInterrupt(() => {
    io.stderr.write("Stopping. Press Ctrl-C again to quit immediately.\n");
  });
  const { signal } = interrupt;
  try {
    const evaluator = await evaluatorOf(config, flags);
    const tasks = await tasksOf(config);
    const recorded = flags.from === undefined ? [] : [...readEpisodes(flags.from)];
    const sampled =
      flags.rollouts === undefined
        ? []
        : await sample(config, tasks.slice(0, flags.rollouts), signal, io);
    const isLive = canRewrite(io.stderr, process.env) && flags.json !== true;
    const report = await doctorReward({
      evaluator,
      tasks,
      episodes: [...recorded, ...sampled],
      maxTasks: flags.tasks,
      timeoutMs: config.workflow.evaluatorTimeoutS * 1000,
      signal,
      ...(flags.reference === undefined ? {} : { reference: flags.reference }),
      onProgress(done, of) {
        if (isLive) io.stderr.write(`\r\u001B[2K${done}/${of} outputs scored`);
      },
    });
    if (isLive) io.stderr.write("\r\u001B[2K");
    io.stdout.write(
      flags.json === true
        ? `${JSON.stringify(report)}\n`
        : formatRewardReport(report, colorsFor(io.stdout)),
    );
    const hasProblem = report.findings.some(({ severity }) => severity === "problem");
    return hasProblem ? exitCodes.failed : exitCodes.done;
  } catch (error) {
    if (signal.aborted && error === signal.reason) return exitCodes.interrupted;
    throw error;
  } finally {
    late.watch();
  }
}
