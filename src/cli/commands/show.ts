/** `agent-trainer show`: recorded episodes of a run or an evaluation, as a list, or one with all that is known of it. */
import { existsSync } from "node:fs";
import { ConfigError } from "../../core/errors.ts";
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
import type { TokenView } from "../../view/api/conversation.ts";
import { episodeMarkdown } from "../../view/episode/markdown.ts";
import { keptTokens } from "../../view/episode/token-records.ts";
import { type GroupRewards, tokenView } from "../../view/episode/token-view.ts";
import { conversationOf } from "../../view/episode/view-episode.ts";
import { type CliCommand, defineCommand } from "../define-command.ts";
import { findRunDecoder } from "../load/token-decoder.ts";
import { formatEpisode } from "../report/conversation-text.ts";
import { formatEpisodeList, listedEpisode } from "../report/episode-list.ts";
import { formatTokens } from "../report/token-table.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import { writeResult } from "../terminal/io.ts";
import { replayEpisode } from "../terminal/replay.ts";
import { colorsFor, safeText } from "../terminal/terminal.ts";

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
      const episodes = Array.from(all, listedEpisode).filter(
        ({ isCorrect, error }) => !failed || isCorrect === false || error !== null,
      );
      writeResult(io, json, { episodes }, formatEpisodeList(episodes));
      return exitCodes.done;
    }
    const found = find(all, folder, wanted);
    const conversation = conversationOf(found.episode);
    if (flags.replay === true) return replayEpisode(conversation, io);
    const tokens = flags.tokens === true ? await tokensOf(folder, found) : null;
    if (json) io.stdout.write(toLine({ ...found.episode, ...(tokens === null ? {} : { tokens }) }));
    else if (flags.markdown === true)
      io.stdout.write(episodeMarkdown({ ...conversation, row: found }));
    else {
      io.stdout.write(formatEpisode(conversation, colorsFor(io.stdout), verbose));
      io.stdout.write((tokens ?? []).map(formatTokens).join(""));
    }
    return exitCodes.done;
  },
});
