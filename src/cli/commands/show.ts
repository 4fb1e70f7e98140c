/** `agent-trainer show`: recorded rollouts of a run or an evaluation, as a list or one as a transcript. */
import { ConfigError } from "../../core/errors.ts";
import { describeFailedCalls } from "../../core/failed-call.ts";
import type { Episode } from "../../core/trajectory.ts";
import { readEpisodes } from "../../runs/evaluations/recorded-episodes.ts";
import { nearestName } from "../../util/nearest-name.ts";
import { toLine } from "../../runs/json-lines.ts";
import { formatEpisodeReport } from "../report/episode-report.ts";
import { formatTable } from "../report/evaluation-table.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import type { CliIo } from "../terminal/io.ts";
import { colorsFor } from "../terminal/terminal.ts";

export interface ShowFlags {
  readonly failed?: boolean;
  readonly json?: boolean;
  readonly verbose?: boolean;
}

interface Listed {
  readonly number: number;
  readonly id: string;
  readonly reward: number | null;
  readonly isCorrect: boolean | null;
  readonly terminationReason: string;
  readonly error: string | null;
}

function find(folder: string, wanted: string): Episode {
  const ids: string[] = [];
  for (const episode of readEpisodes(folder)) {
    if (episode.id === wanted || String(ids.length + 1) === wanted) return episode;
    ids.push(episode.id);
  }
  const nearest = nearestName(wanted, ids);
  throw new ConfigError({
    message: `${folder} has no episode ${JSON.stringify(wanted)}; it has ${ids.length}.`,
    hint:
      nearest === undefined
        ? `To list them, run: agent-trainer show ${folder}`
        : `Did you mean ${nearest}?`,
    fields: { folder, wanted },
  });
}

function list(folder: string, isFailedOnly: boolean): Listed[] {
  return [...readEpisodes(folder)]
    .map(({ id, reward, isCorrect, terminationReason, error, failedCalls }, i) => ({
      number: i + 1,
      id,
      reward,
      isCorrect,
      terminationReason,
      error:
        error === undefined ? describeFailedCalls(failedCalls) : `${error.name}: ${error.message}`,
    }))
    .filter(({ isCorrect, error }) => !isFailedOnly || isCorrect === false || error !== null);
}

function formatList(listed: readonly Listed[]): string {
  const rows = listed.map(({ number, id, reward, isCorrect, terminationReason, error }) => [
    String(number),
    id,
    reward === null ? "-" : String(Number(reward.toFixed(3))),
    isCorrect === null ? "-" : isCorrect ? "correct" : "incorrect",
    (error ?? terminationReason).slice(0, 100),
  ]);
  return formatTable([["", "episode", "reward", "", "ended"], ...rows]);
}

/** Returns the exit status. */
export function showCommand(
  folder: string,
  wanted: string | undefined,
  { failed = false, json = false, verbose = false }: ShowFlags,
  io: CliIo,
): number {
  if (wanted !== undefined) {
    const episode = find(folder, wanted);
    io.stdout.write(
      json ? toLine(episode) : formatEpisodeReport(episode, colorsFor(io.stdout), verbose),
    );
    return exitCodes.done;
  }
  const listed = list(folder, failed);
  io.stdout.write(json ? `${JSON.stringify({ episodes: listed })}\n` : formatList(listed));
  return exitCodes.done;
}
