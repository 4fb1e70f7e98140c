/** `agent-trainer trace`: one recorded episode in the terminal, for people and for programs. */
import { ConfigError } from "../../core/errors.ts";
import { listRuns } from "../../runs/run-summary.ts";
import { toLine } from "../../runs/json-lines.ts";
import { nearestName } from "../../util/nearest-name.ts";
import type { EpisodeRow, TokenView } from "../../view/api.ts";
import { episodeMarkdown } from "../../view/episode/markdown.ts";
import { tokenView } from "../../view/episode/token-view.ts";
import { viewEpisode } from "../../view/episode/view-episode.ts";
import { visibleText } from "../../view/episode/visible-text.ts";
import { findByName, groupRows, listEpisodes } from "../../view/index/query.ts";
import { ViewedRun } from "../../view/server/viewed-run.ts";
import { findTokenDecoder } from "../load/token-decoder.ts";
import { formatEpisodeReport } from "../report/episode-report.ts";
import { formatTable } from "../report/evaluation-table.ts";
import { replayEpisode } from "./replay.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import type { CliIo } from "../terminal/io.ts";
import { colorsFor, safeText } from "../terminal/terminal.ts";

export interface TraceFlags {
  readonly run?: string;
  readonly tokens?: boolean;
  readonly markdown?: boolean;
  readonly replay?: boolean;
  readonly json?: boolean;
  readonly verbose?: boolean;
}

async function latestRun(): Promise<string> {
  const [latest] = await listRuns();
  if (latest !== undefined) return latest.path;
  throw new ConfigError({
    message: "The folder runs holds no run.",
    hint: "Name one: agent-trainer trace ID --run RUN",
  });
}

function formatRows(rows: readonly EpisodeRow[]): string {
  const cells = rows.map(({ n, id, reward, ended, calls, preview }) => [
    String(n),
    id,
    reward === null ? "-" : String(Number(reward.toFixed(3))),
    ended,
    String(calls),
    preview.slice(0, 60),
  ]);
  return formatTable([["", "episode", "reward", "ended", "calls", "last response"], ...cells]);
}

/** Columns of what was recorded while the call was trained on. */
function trainedColumns({ trained }: TokenView): (readonly [string, readonly number[]])[] {
  if (trained === null) return [];
  const { logprobs, reference, entropy, advantages, mask } = trained;
  const all = [
    ["trained", logprobs],
    ["reference", reference],
    ["entropy", entropy],
    ["advantage", advantages],
    ["mask", mask],
  ] as const;
  return all.flatMap(([name, values]) => (values === null ? [] : [[name, values] as const]));
}

function formatTokens(tokens: TokenView, k: number): string {
  const { responseIds, responseTexts, logprobs, untrained, notRecorded } = tokens;
  const columns = trainedColumns(tokens);
  const rows = responseIds.map((id, i) => [
    String(i),
    String(id),
    logprobs[i]?.toFixed(4) ?? "-",
    ...columns.map(([name, values]) => (values[i] ?? 0).toFixed(name === "mask" ? 0 : 4)),
    responseTexts === null ? "" : JSON.stringify(visibleText(responseTexts[i] ?? "")),
  ]);
  const notes = [
    ...untrained.map((reason) => `  not trained: ${safeText(reason)}\n`),
    ...notRecorded.map((reason) => `  ${safeText(reason)}\n`),
  ];
  const head = ["", "id", "logprob", ...columns.map(([name]) => name), "text"];
  return `\ncall ${k + 1}\n${notes.join("")}${formatTable([head, ...rows])}`;
}

/** Returns the exit status. @throws ConfigError when there is no such run or episode. */
export async function traceCommand(
  wanted: string | undefined,
  flags: TraceFlags,
  io: CliIo,
): Promise<number> {
  const folder = flags.run ?? (await latestRun());
  using run = new ViewedRun(folder, 0, findTokenDecoder);
  const { index } = run;
  await index.extend();
  if (wanted === undefined) {
    const { rows, count } = listEpisodes(index.db, {}, null, 50);
    io.stdout.write(
      flags.json === true ? `${JSON.stringify({ episodes: rows, count })}\n` : formatRows(rows),
    );
    return exitCodes.done;
  }
  const row = findByName(index.db, wanted);
  const episode = row === null ? null : index.episode(row.n);
  if (row === null || episode === null) {
    const ids = listEpisodes(index.db, {}, null, 2000).rows.map(({ id }) => id);
    const nearest = nearestName(wanted, ids);
    throw new ConfigError({
      message: `${folder} has no episode ${JSON.stringify(wanted)}; it has ${index.state().episodes}.`,
      hint:
        nearest === undefined
          ? `To list them, run: agent-trainer trace --run ${folder}`
          : `Did you mean ${nearest}?`,
      fields: { folder, wanted },
    });
  }
  const view = viewEpisode(episode, row);
  if (flags.replay === true) return replayEpisode(view, io);
  const group = groupRows(index.db, row.step, row.phase, row.task).map(({ reward }) => reward);
  const decode = flags.tokens === true ? await run.decoder() : null;
  const tokens =
    flags.tokens === true
      ? view.trajectories.flatMap(({ calls }) =>
          calls.flatMap(
            ({ k }) =>
              tokenView(episode, k, { phase: row.phase, group, decode, kept: run.kept(row) }) ?? [],
          ),
        )
      : [];
  if (flags.json === true) {
    io.stdout.write(toLine(flags.tokens === true ? { ...view, tokens } : view));
  } else if (flags.markdown === true) {
    io.stdout.write(episodeMarkdown(view));
  } else {
    io.stdout.write(formatEpisodeReport(episode, colorsFor(io.stdout), flags.verbose === true));
    const breaks = view.trajectories.flatMap(({ calls }) => calls).filter((call) => call.break);
    for (const call of breaks)
      io.stdout.write(`  prefix break at call ${call.k + 1}: ${safeText(call.break ?? "")}\n`);
    io.stdout.write(tokens.map(formatTokens).join(""));
  }
  return exitCodes.done;
}
