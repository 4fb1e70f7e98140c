/** `agent-trainer demo`: trains the built-in model on the shop agent and shows sample rollouts before and after. */
import type { Episode } from "../../core/trajectory.ts";
import { AgentTrainer } from "../../launch/agent-trainer.ts";
import { loadConfig } from "../../config/load.ts";
import { type CliCommand, defineCommand } from "../define-command.ts";
import { createDemoRecorder, type DemoResult } from "../terminal/demo-summary.ts";
import { numberBetween, wholeNumber } from "../terminal/flag-values.ts";
import { watchRunInterrupt } from "../terminal/interrupt.ts";
import { loadDemo } from "../load/load-demo.ts";
import { createLateErrors } from "../terminal/process-end.ts";
import { createProgress, duration } from "../terminal/progress.ts";
import { commandLine, endOf } from "../terminal/resume-command.ts";
import { colorsFor } from "../terminal/terminal.ts";
import { conversationOf } from "../../view/episode/view-episode.ts";
import { formatConversation } from "../report/conversation-text.ts";
import { writeResult } from "../terminal/io.ts";

interface DemoOptions {
  readonly seed?: number | undefined;
  readonly steps?: number | undefined;
  readonly lr?: number | undefined;
}

const help = `
Examples:
  $ agent-trainer demo
  $ agent-trainer demo --steps 5 --seed 1
  $ agent-trainer demo --json --quiet
`;

const shownTasks = 2;

function overridesOf({ seed, steps, lr }: DemoOptions): string[] {
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

function argumentsOf({ seed, steps, lr }: DemoOptions): string[] {
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

export const command: CliCommand = defineCommand({
  flags: (demo) =>
    demo
      .option("--seed <n>", "random seed of the run", wholeNumber(0))
      .option("--steps <n>", "number of optimizer steps", wholeNumber(1))
      .option(
        "--lr <rate>",
        "learning rate, 0 to 1; 0 learns nothing, for a control run",
        numberBetween(0, 1),
      )
      .option(
        "--resume [runDir]",
        "resume an interrupted demo; without a folder, resume the latest one",
      ),
  help,
  async run(_, { json: isJson = false, quiet = false, resume = false, ...flags }, io) {
    const demo = await loadDemo();
    const { config } = loadConfig({ file: demo.configFile, overrides: overridesOf(flags) });
    using late = createLateErrors(io.stderr);
    const colors = colorsFor(io.stdout);
    const progress = createProgress({ stream: io.stderr, isQuiet: quiet });
    const recorder = createDemoRecorder(() => performance.now() / 1000);
    const showSamples = (title: string): void => {
      if (isJson || recorder.episodes.length === 0) return;
      progress.clear();
      const texts = samples(recorder.episodes).map((episode) =>
        formatConversation(conversationOf(episode), colors),
      );
      io.stdout.write(`\n${colors.bold(title)}\n\n${texts.join("\n")}\n`);
    };
    using interrupt = watchRunInterrupt(io, progress);
    const trainer = new AgentTrainer({
      agentFlow: demo.agent,
      evaluator: demo.evaluator,
      config,
      trainDataset: demo.trainTasks,
      valDataset: demo.valTasks,
      resume: resume === true ? "auto" : resume,
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
    writeResult(io, isJson, result, summary(result));
    return endOf(run, ["demo", ...argumentsOf(flags)], config, io);
  },
});
