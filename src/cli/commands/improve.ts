/** `agent-trainer improve`: one round from what production said to a better model. */
import { loadImproveConfig } from "../../config/improve/improve-config.ts";
import { improve, type ImproveResult, type Stage } from "../../launch/improve/improve.ts";
import { type CliCommand, defineCommand } from "../define-command.ts";
import { countsText } from "../report/counts-text.ts";
import { createPullProgress } from "../terminal/byte-progress.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import { createFineTuneProgress } from "../terminal/fine-tune-progress.ts";
import { watchInterrupt } from "../terminal/interrupt.ts";
import { createItemProgress } from "../terminal/item-progress.ts";
import { createLateErrors } from "../terminal/process-end.ts";
import { writeResult } from "../terminal/io.ts";
import { createProgress } from "../terminal/progress.ts";
import { improveJsonSchema } from "../../config/improve/improve-schema.ts";
import { fieldsOf } from "../../config/fields.ts";
import { lineOf } from "../report/option-help.ts";
import { roundFolder } from "../../runs/rounds/round-file.ts";
import type { Round } from "../../runs/rounds/round.ts";
import { safeText } from "../terminal/terminal.ts";

const stageLine = (stage: Stage, { round }: Round): string => `round ${round}: ${stage}\n`;

const named = ({ model, version }: { model: string; version: string | null }): string =>
  safeText(version ?? model);

function outcome({ status, inUse, train, gate }: ImproveResult): readonly string[] {
  switch (status) {
    case "too little":
      return ["too little to train on: it is left for the next round"];
    case "refused":
      return [
        `refused: ${named(inUse)} stays in use`,
        ...(gate?.misses ?? []).map(({ message, missedBy }) => {
          const by = missedBy === null ? "" : `; missed by ${Number(missedBy.toFixed(4))}`;
          return `  ${safeText(message)}${by}`;
        }),
      ];
    default:
      return [`handed over: ${train === undefined ? "" : named(train.candidate)}`];
  }
}

const droppedText = (dropped: Readonly<Record<string, number>>): readonly string[] =>
  Object.keys(dropped).length === 0 ? [] : [`left out  ${countsText(dropped)}`];

/** What a round came to, for the terminal. */
function formatRound(result: ImproveResult, folder: string): string {
  const { round, curate, train, gate } = result;
  const difference = gate?.difference ?? null;
  const lines = [
    `round ${round}, ${roundFolder(folder, round)}`,
    ...(curate === undefined
      ? []
      : [
          `data      ${curate.conversations} conversations, ${curate.good} good and ${curate.bad} bad; ${curate.rows.train} rows to train on`,
          ...droppedText(curate.dropped ?? {}),
        ]),
    ...(train === undefined ? [] : [`training  ${train.with}, ${train.steps} steps`]),
    ...(difference === null
      ? []
      : [
          `gate      ${difference.current.toFixed(3)} -> ${difference.candidate.toFixed(3)} on ${gate?.tasks} tasks`,
        ]),
    ...outcome(result),
  ];
  return `${lines.join("\n")}\n`;
}

/** Help text of the options of a round, from their schema. */
function formatImproveHelp(columns: number | undefined): string {
  const lines = fieldsOf(improveJsonSchema()).map((field) => lineOf(field, columns));
  return `Options of the file and of key=value, with their defaults; paths of the file are relative to it:\n${lines.join("\n")}\n`;
}

const help = `
Each call is one round: what serve and collect have kept is curated and trained on, the result is compared with the
model in use, and where it is better, it is handed over to serve. A round that was stopped continues where it was.
Exits with 0 where the round ended or waits for more data, and with 1 where the gate refused the model.

Examples:
  $ agent-trainer improve improve.yaml
  $ agent-trainer serve shop=improve --follow --store production
  $ agent-trainer improve improve.yaml train.with=sft gate.min_gain=0.02
  $ agent-trainer improve improve.yaml --abandon
  $ agent-trainer view improve

Every night at two, with cron:
  0 2 * * * cd /srv/shop && agent-trainer improve improve.yaml --quiet
`;

export const command: CliCommand = defineCommand({
  flags: (flags) =>
    flags
      .argument("<config>", "YAML file with the options below")
      .argument("[overrides...]", "key=value pairs that override options of the file")
      .option("--abandon", "end the round that was stopped, and begin another"),
  help: (columns) => `${help}\n${formatImproveHelp(columns)}`,
  async run([file, overrides], { abandon = false, json = false, quiet = false }, io) {
    const config = loadImproveConfig(file, overrides);
    const shown = { stream: io.stderr, isQuiet: quiet };
    const training =
      config.train.with === "rl" ? createProgress(shown) : createFineTuneProgress(shown);
    const evaluating = createItemProgress(shown);
    const clear = (): void => {
      training.clear();
      evaluating.clear();
    };
    using late = createLateErrors(io.stderr);
    using interrupt = watchInterrupt(
      io,
      "Stopping; the same command continues the round. Press Ctrl-C again to quit at once.",
      { clear },
    );
    const result = await improve({
      config,
      abandon,
      signal: interrupt.signal,
      onStage(stage, round) {
        clear();
        if (!quiet) io.stderr.write(stageLine(stage, round));
      },
      onEvent: (event) => training.onEvent(event),
      onResult: (item, counts) => evaluating.onResult(item, counts),
      onWarning: (message) => evaluating.onWarning(message),
      onPull: createPullProgress(io.stderr),
    }).finally(() => {
      clear();
      late.watch();
    });
    writeResult(io, json, result, formatRound(result, config.folder));
    return result.status === "refused" ? exitCodes.failed : exitCodes.done;
  },
});
