/** An episode as the model that every page, file and terminal shows: its conversation, and what came of it. */
import { inspect } from "node:util";
import { isCutOff, isFailed } from "../../core/outcome.ts";
import { describeFailedCalls, type Episode } from "../../core/trajectory.ts";
import type { Conversation, ViewEpisode } from "../api/conversation.ts";
import type { EpisodeRow } from "../api/episodes.ts";
import { viewTrajectories } from "./conversation.ts";
import { expectedAnswer } from "./expected.ts";

const endings: Readonly<Record<string, string>> = {
  completed: "The agent returned.",
  env_done: "The environment said that it is done.",
  max_prompt_length_exceeded: "The prompt became longer than allowed.",
  max_response_length_exceeded: "The response became longer than allowed.",
  max_turns_exceeded: "The agent used all its turns.",
  timeout: "The time limit ended it.",
  error: "Every attempt failed.",
  evaluator_error: "The agent returned, but the evaluator failed.",
  user_error: "The simulated user failed, which says nothing of the agent.",
  aborted: "It was cut off because the run stopped.",
  unknown: "It is not known why it ended.",
};

type Outcome = Pick<
  Conversation,
  "ended" | "error" | "failedCalls" | "reward" | "isCorrect" | "errorStack"
>;

function outcomeOf({ terminationReason, error, failedCalls, reward, isCorrect }: Episode): Outcome {
  return {
    ended: terminationReason ?? "unknown",
    error: error === undefined ? null : `${error.name}: ${error.message}`,
    failedCalls: describeFailedCalls(failedCalls, error),
    errorStack: error?.stack ?? null,
    reward: typeof reward === "number" ? reward : null,
    isCorrect: typeof isCorrect === "boolean" ? isCorrect : null,
  };
}

function endingOf({ attempts }: Episode, outcome: Outcome): string {
  const { ended, error, failedCalls, reward, isCorrect } = outcome;
  const known = Object.hasOwn(endings, ended) ? endings[ended] : undefined;
  const parts = [known ?? `Ended: ${ended}.`];
  if (error !== null) parts.push(error);
  if (failedCalls !== null) parts.push(failedCalls);
  parts.push(reward === null ? "No reward" : `Reward ${Number(reward.toFixed(4))}`);
  if (isCorrect !== null) parts.push(isCorrect ? "correct" : "incorrect");
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

export function conversationOf(episode: Episode): Conversation {
  const signals = Object.entries(episode.metrics ?? {}).flatMap(([name, value]) =>
    name.startsWith("signal/") && typeof value === "number"
      ? [[name.slice("signal/".length), value] as const]
      : [],
  );
  const outcome = outcomeOf(episode);
  return {
    id: episode.id,
    task: episode.task.id,
    instruction: episode.task.instruction ?? "",
    metadata: metadataOf(episode),
    expected: expectedAnswer(episode.task.metadata),
    trajectories: viewTrajectories(episode),
    output: shown(episode.output),
    signals: Object.fromEntries(signals),
    ...outcome,
    ending: endingOf(episode, outcome),
    isBad: isFailed(episode) || isCutOff(episode) || episode.isCorrect === false,
  };
}

export const viewEpisode = (
  episode: Episode,
  row: EpisodeRow,
  { previous, following }: Neighbours = { previous: null, following: null },
): ViewEpisode => ({ ...conversationOf(episode), row, previous, following });
