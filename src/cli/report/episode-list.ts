/** Recorded episodes as a table: how each ended, and what was said last. */
import { describeFailedCalls } from "../../core/trajectory.ts";
import { messageText } from "../../core/message-text.ts";
import type { RecordedEpisode } from "../../runs/evaluations/recorded-episodes.ts";
import { toolCallTexts } from "../../view/episode/conversation.ts";
import { formatTable } from "./evaluation-table.ts";

export interface ListedEpisode {
  readonly number: number;
  readonly id: string;
  readonly reward: number | null;
  readonly isCorrect: boolean | null;
  readonly terminationReason: string;
  readonly error: string | null;
  readonly calls: number;
  /** Beginning of the last response. */
  readonly preview: string;
}

export function listedEpisode({ number, episode }: RecordedEpisode): ListedEpisode {
  const { id, reward, isCorrect, terminationReason, error, failedCalls } = episode;
  const calls = episode.trajectories.flatMap(({ steps }) => steps);
  const last = calls.at(-1)?.trace.response;
  const said = last === undefined ? [] : [messageText(last.content), ...toolCallTexts(last)];
  return {
    number,
    id,
    reward: typeof reward === "number" ? reward : null,
    isCorrect: isCorrect ?? null,
    terminationReason: terminationReason ?? "unknown",
    error:
      error === undefined ? describeFailedCalls(failedCalls) : `${error.name}: ${error.message}`,
    calls: calls.length,
    preview: (said.find((text) => text.trim() !== "") ?? "").slice(0, 160),
  };
}

export function formatEpisodeList(all: readonly ListedEpisode[]): string {
  const rows = all.map(
    ({ number, id, reward, isCorrect, terminationReason, error, calls, preview }) => [
      String(number),
      id,
      reward === null ? "-" : String(Number(reward.toFixed(3))),
      isCorrect === null ? "-" : isCorrect ? "correct" : "incorrect",
      (error ?? terminationReason).slice(0, 100),
      String(calls),
      preview.slice(0, 60),
    ],
  );
  return formatTable([["", "episode", "reward", "", "ended", "calls", "last response"], ...rows]);
}
