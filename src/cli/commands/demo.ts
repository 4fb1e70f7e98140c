/** `agent-trainer demo`: trains the built-in model on the shop agent and shows sample rollouts before and after. */
import type { Episode } from "../../core/trajectory.ts";
import { AgentTrainer } from "../../launch/agent-trainer.ts";
import { loadConfig } from "../../config/load.ts";
import { createDemoRecorder, type DemoResult } from "../terminal/demo-summary.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import { watchInterrupt } from "../terminal/interrupt.ts";
import type { CliIo } from "../terminal/io.ts";
import { loadDemo } from "../load/load-demo.ts";
import { createLateErrors } from "../terminal/process-end.ts";
import { createProgress, duration } from "../terminal/progress.ts";
import { commandLine, nextCommand } from "../terminal/resume-command.ts";
import { colorsFor } from "../terminal/terminal.ts";
import { formatEpisode } from "../terminal/transcript.ts";

export interface DemoFlags {
  readonly json?: boolean;
  readonly seed?: number;
  readonly steps?: number;
  readonly lr?: number;
  readonly quiet?: boolean;
  readonly resume?: string | boolean;
}

const shownTasks = 2;

function overridesOf({ seed, steps, lr }: DemoFlags): string[] {
  const pairs = [
    ["trainer.seed", seed],
    ["trainer.total_batches", steps],
    ["training.learning_rate", lr],
  ] as const;
  const given = pairs.flatMap(([key, value]) => (value === undefined ? [] : [`${key}=${value}`]));
  // The file names them for `train`; here they are passed in code, compiled where it is.
  const parts = ["agent", "evaluator", "dataset.train", "dataset.val"];
  return [...parts.map((key) => `${key}=null`), ...given];
}

function argumentsOf({ seed, steps, lr }: DemoFlags): string[] {
  const pairs = [
    ["--seed", seed],
    ["--steps", steps],
    ["--lr", lr],
  ] as const;
  return pairs.flatMap(([flag, value]) => (value === undefined ? [] : [flag, String(value)]));
}

/** The first rollout of the first tasks, so that the samples before and after show the same tasks. */
function samples(episodes: readonly Episode[]): Episode[] {
  return episodes.filter((episode) => episode.rolloutIndex === 0).slice(0, shownTasks);
}

const number = (value: number | null): string => (value === null ? "-" : value.toFixed(3));

function summary(result: DemoResult): string {
  return [
    `training reward    ${number(result.rewardFirst)} → ${number(result.rewardLast)}  (first and last step)`,
    `validation reward  ${number(result.valFirst)} → ${number(result.valLast)}  (before and after)`,
    `steps ${result.steps}, ${duration(result.seconds)}, seed ${result.seed}`,
    `run folder: ${result.runDir}`,
    "",
    "What to try next:",
    `  ${commandLine(["demo", "--seed", String(result.seed + 1)])}            the same with a different seed`,
    `  ${commandLine(["demo", "--lr", "0"])}              a control run: nothing is learned`,
    "  examples/shop/agent.ts is the agent; docs/tutorial.md trains one from an empty folder",
    "",
  ].join("\n");
}

/** Runs the command; resolves with the exit status. */
export async function demoCommand(flags: DemoFlags, io: CliIo): Promise<number> {
  const demo = await loadDemo();
  const { config } = loadConfig({ file: demo.configFile, overrides: overridesOf(flags) });
  using late = createLateErrors(io.stderr);
  const isJson = flags.json === true;
  const colors = colorsFor(io.stdout);
  const progress = createProgress({ stream: io.stderr, isQuiet: flags.quiet === true });
  const recorder = createDemoRecorder(() => performance.now() / 1000);
  const showSamples = (title: string): void => {
    if (isJson || recorder.episodes.length === 0) return;
    progress.clear();
    const texts = samples(recorder.episodes).map((episode) => formatEpisode(episode, colors));
    io.stdout.write(`\n${colors.bold(title)}\n\n${texts.join("\n")}\n`);
  };
  using interrupt = watchInterrupt(() => {
    progress.clear();
    io.stderr.write(
      "Stopping; the last completed step is saved. Press Ctrl-C again to quit immediately.\n",
    );
  });
  const trainer = new AgentTrainer({
    agentFlow: demo.agent,
    evaluator: demo.evaluator,
    config,
    trainDataset: demo.trainTasks,
    valDataset: demo.valTasks,
    resume: flags.resume === true ? "auto" : (flags.resume ?? false),
    signal: interrupt.signal,
    onEvent: (event) => {
      progress.onEvent(event);
      recorder.onEvent(event);
      if (event.type === "validation-end" && event.step === 0) showSamples("Before training");
    },
  });
  const run = await trainer.train().finally(() => late.watch());
  progress.clear();
  if (run.status !== "interrupted") showSamples("After training");
  const result = recorder.result(run);
  io.stdout.write(isJson ? `${JSON.stringify(result)}\n` : summary(result));
  if (run.status !== "interrupted") return exitCodes.done;
  const isNamed = config.trainer.experimentName !== null;
  io.stderr.write(`${nextCommand(run, ["demo", ...argumentsOf(flags)], isNamed)}\n`);
  return exitCodes.interrupted;
}
