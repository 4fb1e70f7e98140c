/** An episode as pages, exports and the terminal show it. */
import { inspect } from "node:util";
import { describeFailedCalls } from "../../core/failed-call.ts";
import { isCutOff, isFailed } from "../../core/outcome.ts";
import type { Episode } from "../../core/trajectory.ts";
import type { EpisodeRow, ViewEpisode } from "../api.ts";
import { viewTrajectories } from "./conversation.ts";

const endings: Readonly<Record<string, string>> = {
  completed: "The agent returned.",
  env_done: "The environment said that it is done.",
  max_prompt_length_exceeded: "The prompt became longer than allowed.",
  max_response_length_exceeded: "The response became longer than allowed.",
  max_turns_exceeded: "The agent used all its turns.",
  timeout: "The time limit ended it.",
  error: "Every attempt failed.",
  evaluator_error: "The agent returned, but the evaluator failed.",
  aborted: "It was cut off because the run stopped.",
  unknown: "It is not known why it ended.",
};

const verdicts = { true: "correct", false: "incorrect" } as const;

function endingOf(episode: Episode): string {
  const { terminationReason, error, reward, isCorrect, attempts } = episode;
  const known = Object.hasOwn(endings, terminationReason) ? endings[terminationReason] : undefined;
  const parts = [known ?? `Ended: ${terminationReason}.`];
  if (error !== undefined) parts.push(`${error.name}: ${error.message}`);
  const failed = describeFailedCalls(episode.failedCalls, episode.error);
  if (failed !== null) parts.push(failed);
  parts.push(typeof reward === "number" ? `Reward ${Number(reward.toFixed(4))}` : "No reward");
  if (typeof isCorrect === "boolean") parts.push(verdicts[`${isCorrect}`]);
  if (attempts > 1) parts.push(`attempt ${attempts}`);
  return parts.join(" · ");
}

function shown(output: unknown): string {
  if (output === undefined || output === null) return "";
  return typeof output === "string" ? output : inspect(output, { depth: 6, breakLength: 100 });
}

function metadataOf({ task: { metadata } }: Episode): string {
  const isEmpty = metadata === undefined || Object.keys(metadata).length === 0;
  return isEmpty ? "" : JSON.stringify(metadata, null, 2);
}

export interface Neighbours {
  readonly previous: number | null;
  readonly following: number | null;
}

export function viewEpisode(
  episode: Episode,
  row: EpisodeRow,
  { previous, following }: Neighbours = { previous: null, following: null },
): ViewEpisode {
  const signals = Object.entries(episode.metrics ?? {}).flatMap(([name, value]) =>
    name.startsWith("signal/") && typeof value === "number"
      ? [[name.slice("signal/".length), value] as const]
      : [],
  );
  return {
    row,
    instruction: episode.task.instruction ?? "",
    metadata: metadataOf(episode),
    trajectories: viewTrajectories(episode),
    output: shown(episode.output),
    signals: Object.fromEntries(signals),
    errorStack: episode.error?.stack ?? null,
    ending: endingOf(episode),
    isBad: isFailed(episode) || isCutOff(episode) || episode.isCorrect === false,
    previous,
    following,
  };
}
