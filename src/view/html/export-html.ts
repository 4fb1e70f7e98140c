/** A run as one HTML file: no network, no scripts, no hidden characters, and of a bounded size. */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { html, raw } from "hono/html";
import type { EpisodeFilter, EpisodeRow } from "../api/episodes.ts";
import type { ViewEpisode } from "../api/conversation.ts";
import { toolCallTexts } from "../episode/conversation.ts";
import { viewEpisode } from "../episode/view-episode.ts";
import { visibleText } from "../episode/visible-text.ts";
import { readMetricLines } from "../../runs/metric-lines.ts";
import type { RunFinding } from "../../core/health.ts";
import { readRunHealth } from "../../runs/run-health.ts";
import { readListedRun, type RunSummary } from "../../runs/run-summary.ts";
import { configFile } from "../../runs/stored-config.ts";
import type { RunIndex } from "../index/run-index.ts";
import { metricTable } from "../metric-table.ts";
import { runChanges } from "../changes.ts";
import { findRow, listEpisodes, phaseSteps, questionsOf, taskCells } from "../index/query.ts";
import { mainPhase } from "../phases.ts";
import { taskMap } from "../task-map.ts";
import { formatCost, readCostOfReward } from "../../runs/cost-of-reward.ts";
import { changesHtml } from "./changes-html.ts";
import { chart, learningChart } from "./chart.ts";
import { mapHtml } from "./map-html.ts";
import { episodeHtml } from "./episode-html.ts";
import { isBadEnd } from "../run-status.ts";
import { pageStyle } from "./page-style.ts";

/** 200 episodes stay below 5 MB. */
const bytesPerEpisode = 24_000;
/** Characters per text, until the episode fits. */
const textLimits = [8000, 2000, 500, 100, 20];

const charts = [
  "val/reward/mean",
  "rollout/pass@1",
  "train/entropy",
  "train/grad_norm",
  "train/kl_k3",
  "train/logprob_abs_diff_mean",
  "episode/tokens/response",
  "episode/truncated",
];

export interface HtmlExport {
  readonly text: string;
  readonly episodes: number;
  /** Episodes whose texts were shortened. */
  readonly shortened: number;
}

function longestText({ trajectories, output, ending }: ViewEpisode): number {
  const calls = trajectories.flatMap((one) => one.calls);
  const messages = calls.flatMap(({ newMessages, response }) => [...newMessages, response]);
  const texts = messages.flatMap((message) => [
    message.text,
    message.reasoning ?? "",
    ...toolCallTexts(message),
  ]);
  return [output, ending, ...texts].reduce((most, { length }) => Math.max(most, length), 0);
}

/** Calls cannot be shortened away: an episode of very many of them keeps its banner only. */
async function fitted(
  index: RunIndex,
  row: EpisodeRow,
): Promise<{ text: string; isShortened: boolean }> {
  const episode = index.episode(row.n);
  if (episode === null) return { text: "", isShortened: false };
  const view = viewEpisode(episode, row);
  for (const limit of textLimits) {
    const text = await episodeHtml(view, limit);
    if (Buffer.byteLength(text) <= bytesPerEpisode)
      return { text, isShortened: longestText(view) > limit };
  }
  const note = `${row.calls} calls, too long for this file: open it with agent-trainer show.`;
  const brief = {
    ...view,
    trajectories: [],
    output: "",
    ending: `${view.ending.slice(0, 500)} · ${note}`,
  };
  return { text: await episodeHtml(brief, 1000), isShortened: true };
}

const rewardOf = ({ reward }: EpisodeRow): string =>
  reward === null ? "–" : String(Number(reward.toFixed(3)));

function listHtml(rows: readonly EpisodeRow[]) {
  return html`<table class="list">
    <thead>
      <tr>
        <th>episode</th>
        <th>step</th>
        <th>reward</th>
        <th>ended</th>
        <th>calls</th>
        <th>last response</th>
      </tr>
    </thead>
    <tbody>
      ${rows.map(
        (row) =>
          html`<tr>
            <td><a href="#e${row.n}">${row.id}</a></td>
            <td>${row.step}</td>
            <td>${rewardOf(row)}</td>
            <td>${row.ended}</td>
            <td>${row.calls}</td>
            <td>${row.preview}</td>
          </tr> `,
      )}
    </tbody>
  </table>`;
}

function findingHtml({ name, evidence, advice, isCurrent, warnedAt, options }: RunFinding) {
  const when = isCurrent ? "" : `earlier, at step ${warnedAt}: `;
  const given = Object.entries(options).map(([key, value]) => `${key}=${value}`);
  return html`<li>
    <strong class="bad">${when}${name}</strong>: ${evidence}. ${advice}
    ${given.length === 0 ? "" : html`<code>${given.join(", ")}</code>`}
  </li>`;
}

/** Only a run that did what it was started for is called healthy. */
function healthHtml(problems: readonly RunFinding[], run: RunSummary | null) {
  if (problems.length > 0)
    return html`<section class="panel">
      <h2>Is it healthy?</h2>
      <ul>
        ${problems.map(findingHtml)}
      </ul>
    </section>`;
  if (run === null || run.steps === 0 || isBadEnd(run.status)) return "";
  return html`<section class="panel">
    <h2>Is it healthy?</h2>
    <p class="good">✓ No rule found a problem in the metrics of the last steps.</p>
  </section>`;
}

/** Null where it can no longer be read. */
function shownEpisode(index: RunIndex, n: number): ViewEpisode | null {
  const [row, episode] = [findRow(index.db, n), index.episode(n)];
  return row === null || episode === null ? null : viewEpisode(episode, row);
}

/** The newest `limit` episodes that match. The index must be up to date. */
export async function exportHtml(
  folder: string,
  index: RunIndex,
  filter: EpisodeFilter = {},
  limit = 200,
): Promise<HtmlExport> {
  const { rows, count, isCountExact } = listEpisodes(index.db, filter, null, limit);
  const lines = await readMetricLines(folder);
  const table = metricTable(lines);
  const problems = await readRunHealth(folder);
  const run = existsSync(join(folder, configFile)) ? await readListedRun(folder) : null;
  const articles: string[] = [];
  let shortened = 0;
  for (const row of rows) {
    const { text, isShortened } = await fitted(index, row);
    articles.push(text);
    if (isShortened) shortened++;
  }
  const name = visibleText(basename(resolve(folder)));
  const learning = learningChart(table);
  const cost = await readCostOfReward(folder);
  const known = phaseSteps(index.db);
  const phases = known.map((one) => one.phase);
  const phase = mainPhase(known);
  const cells = taskCells(index.db, phase);
  const questions = (numbers: readonly number[]) => questionsOf(index.db, numbers);
  const map = taskMap(cells, { phase, phases, questions });
  const changes = runChanges(cells, phase, questions);
  // As one string: the policy allows exactly these characters.
  const sheet = pageStyle();
  const style = `<style>${sheet}</style>`;
  const hash = createHash("sha256").update(sheet).digest("base64");
  const text = await html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta
          http-equiv="content-security-policy"
          content="default-src 'none'; style-src 'sha256-${hash}'"
        />
        <title>${name} – agent-trainer</title>
        ${raw(style)}
      </head>
      <body>
        ${
          run === null || run.reason === null
            ? ""
            : html`<p class="banner ${isBadEnd(run.status) ? "bad" : ""}">
                <strong>${run.status}</strong>: ${run.reason}
              </p>`
        }
        <h1>${name}</h1>
        <p class="dim small">
          ${
            run === null
              ? ""
              : `${run.status} · ${run.steps}/${run.totalSteps ?? "?"} steps · ${run.model} · ${run.backend} · `
          }The
          newest ${rows.length} of ${count}${isCountExact ? "" : " or more"}
          episodes.${shortened === 0 ? "" : ` The texts of ${shortened} are shortened.`}
        </p>
        <div class="overview">
          ${
            learning === null
              ? ""
              : html`<section class="panel">
                  <h2>Is it learning?</h2>
                  ${learning}
                </section>`
          }
          ${healthHtml(problems, run)}
          ${
            cost === null
              ? ""
              : html`<section class="panel">
                  <h2>What did it cost?</h2>
                  <p>${formatCost(cost)}</p>
                </section>`
          }
        </div>
        ${changesHtml(changes, (n) => shownEpisode(index, n))} ${mapHtml(map)}
        <section class="charts">${charts.map((metric) => chart(metric, table) ?? "")}</section>
        <section>
          <h2>Episodes</h2>
          <div class="scroll">${listHtml(rows)}</div>
        </section>
        ${raw(articles.join(""))}
      </body>
    </html> `;
  return { text: visibleText(String(text)), episodes: rows.length, shortened };
}
