/** `agent-trainer show`: recorded episodes of a run or an evaluation, as a list, or one with all that is known of it. */
import { existsSync } from "node:fs";
import { ConfigError } from "../../core/errors.ts";
import { describeFailedCalls } from "../../core/failed-call.ts";
import { messageText } from "../../core/message-text.ts";
import {
  episodeFiles,
  episodeOrigin,
  isNamed,
  noSuchEpisode,
  type RecordedEpisode,
  recordedEpisodes,
} from "../../runs/evaluations/recorded-episodes.ts";
import { toLine } from "../../runs/json-lines.ts";
import { listRuns } from "../../runs/run-summary.ts";
import type { TokenView } from "../../view/api.ts";
import { toolCallTexts } from "../../view/episode/conversation.ts";
import { episodeMarkdown } from "../../view/episode/markdown.ts";
import { keptTokens } from "../../view/episode/token-records.ts";
import { type GroupRewards, tokenView } from "../../view/episode/token-view.ts";
import { conversationOf } from "../../view/episode/view-episode.ts";
import { type CliCommand, defineCommand } from "../define-command.ts";
import { findRunDecoder } from "../load/token-decoder.ts";
import { formatEpisode } from "../report/conversation-text.ts";
import { formatTable } from "../report/evaluation-table.ts";
import { formatTokens } from "../report/token-table.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import { replayEpisode } from "../terminal/replay.ts";
import { colorsFor, safeText } from "../terminal/terminal.ts";
import { writeResult } from "../terminal/io.ts";

const help = `
Examples:
  $ agent-trainer show runs/shop
  $ agent-trainer show evals/before --failed
  $ agent-trainer show evals/before 12
  $ agent-trainer show runs/shop 3/tea-and-milk/0 --tokens
  $ agent-trainer show runs/shop 3/tea-and-milk/0 --json
  $ agent-trainer show 12 --markdown

An episode alone is one of the latest run in runs.
`;

async function latestRun(): Promise<string> {
  const [latest] = await listRuns();
  if (latest !== undefined) return latest.path;
  throw new ConfigError({
    message: "The folder runs holds no run.",
    hint: "Name one: agent-trainer show RUN",
  });
}

/** An episode alone is one of the latest run. */
async function readArguments(
  folder: string | undefined,
  wanted: string | undefined,
): Promise<readonly [folder: string, wanted: string | undefined]> {
  const isEpisode = wanted === undefined && /^\d+(?:\/.+\/\d+)?$/u.test(folder ?? "");
  if (folder === undefined || (isEpisode && !existsSync(folder)))
    return [await latestRun(), folder];
  return [folder, wanted];
}

function find(all: Iterable<RecordedEpisode>, folder: string, wanted: string): RecordedEpisode {
  const ids: string[] = [];
  for (const one of all) {
    if (isNamed(one, wanted)) return one;
    ids.push(one.episode.id);
  }
  throw noSuchEpisode(folder, wanted, ids);
}

/** Rewards of the rollouts of the same task and step. */
function groupRewards(folder: string, { episode, step, phase }: RecordedEpisode): GroupRewards {
  const files = episodeFiles(folder).filter((file) => {
    const origin = episodeOrigin(file);
    return origin.step === step && origin.phase === phase;
  });
  const all = recordedEpisodes(folder, { files, onDamaged: () => {} });
  return Array.from(all, ({ episode: { task, reward } }) =>
    task.id === episode.task.id ? [reward] : [],
  ).flat();
}

/** Of each call that has tokens. */
async function tokensOf(folder: string, found: RecordedEpisode): Promise<TokenView[]> {
  const { episode, step, phase } = found;
  const options = {
    phase,
    group: groupRewards(folder, found),
    decode: await findRunDecoder(folder),
    kept: keptTokens(folder, { id: episode.id, step }),
  };
  const calls = episode.trajectories.flatMap(({ steps }) => steps);
  return calls.flatMap((_, k) => tokenView(episode, k, options) ?? []);
}

interface Listed {
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

function listed({ number, episode }: RecordedEpisode): Listed {
  const { id, reward, isCorrect, terminationReason, error, failedCalls } = episode;
  const calls = episode.trajectories.flatMap(({ steps }) => steps);
  const last = calls.at(-1)?.trace.response;
  const said = last === undefined ? [] : [messageText(last.content), ...toolCallTexts(last)];
  return {
    number,
    id,
    reward,
    isCorrect,
    terminationReason,
    error:
      error === undefined ? describeFailedCalls(failedCalls) : `${error.name}: ${error.message}`,
    calls: calls.length,
    preview: (said.find((text) => text.trim() !== "") ?? "").slice(0, 160),
  };
}

function formatList(all: readonly Listed[]): string {
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

/** @throws ConfigError where there is no such run or episode. */
export const command: CliCommand = defineCommand({
  flags: (show) =>
    show
      .argument("[folder]", "folder of a run or of an evaluation (default: the latest run in runs)")
      .argument("[episode]", "id of the episode, or its number in the list")
      .option("--failed", "list only those that failed or are incorrect")
      .option(
        "--tokens",
        "list the sampled tokens with their log-probabilities, and what record.token_rows kept of them",
      )
      .option("--markdown", "print the episode as Markdown")
      .option("--replay", "show one message after the other, the next one at Enter"),
  help,
  async run([given, episode], { failed = false, json = false, verbose = false, ...flags }, io) {
    const [folder, wanted] = await readArguments(given, episode);
    const all = recordedEpisodes(folder, {
      onDamaged: (at) =>
        void io.stderr.write(
          `warning: ${safeText(at)} is not a recorded episode; it is left out.\n`,
        ),
    });
    if (wanted === undefined) {
      const episodes = Array.from(all, listed).filter(
        ({ isCorrect, error }) => !failed || isCorrect === false || error !== null,
      );
      writeResult(io, json, { episodes }, formatList(episodes));
      return exitCodes.done;
    }
    const found = find(all, folder, wanted);
    const conversation = conversationOf(found.episode);
    if (flags.replay === true) return replayEpisode(conversation, io);
    const tokens = flags.tokens === true ? await tokensOf(folder, found) : [];
    if (json)
      io.stdout.write(toLine(tokens.length > 0 ? { ...found.episode, tokens } : found.episode));
    else if (flags.markdown === true)
      io.stdout.write(episodeMarkdown({ ...conversation, row: found }));
    else {
      io.stdout.write(formatEpisode(conversation, colorsFor(io.stdout), verbose));
      io.stdout.write(tokens.map(formatTokens).join(""));
    }
    return exitCodes.done;
  },
});
