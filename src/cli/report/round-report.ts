/** Formats a round for the terminal. */
import type { ImproveResult, Stage } from "../../launch/improve/improve.ts";
import { roundFolder } from "../../runs/rounds/round-file.ts";
import type { Round } from "../../runs/rounds/round.ts";
import { safeText } from "../terminal/terminal.ts";

export const stageLine = (stage: Stage, { round }: Round): string => `round ${round}: ${stage}\n`;

const named = ({ model, version }: { model: string; version: string | null }): string =>
  safeText(version ?? model);

function outcome(result: Exclude<ImproveResult, { status: "on trial" }>): readonly string[] {
  const { status, inUse, train, gate } = result;
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

export function formatRound(result: ImproveResult, folder: string): string {
  if (result.status === "on trial")
    return `no round: ${safeText(result.trial.version)} is still on trial, and serve decides about it by feedback\n`;
  const { round, curate, train, gate } = result;
  const difference = gate?.difference ?? null;
  const lines = [
    `round ${round}, ${roundFolder(folder, round)}`,
    ...(curate === undefined
      ? []
      : [
          `data      ${curate.conversations} conversations, ${curate.good} good and ${curate.bad} bad; ${curate.rows.train} rows to train on`,
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
