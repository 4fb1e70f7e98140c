/** The map of tasks by steps as a table with a picture in each row. */
import { html } from "hono/html";
import type { MapRow, TaskMap } from "../api/tasks.ts";
import { levelOf } from "../levels.ts";
import type { Html } from "./chart.ts";

const maxRows = 60;
const height = 10;
const width = 4;

function rowHtml(row: MapRow, map: TaskMap) {
  const columns = map.columns.length;
  const learned = map.columns.findLastIndex((step) => step <= (row.learnedAt ?? -1));
  const label = `from ${row.first ?? "none"} to ${row.last ?? "none"}`;
  return html`<tr>
    <th scope="row">${row.question === "" ? row.task : row.question.slice(0, 80)}</th>
    <td>
      <svg
        viewBox="0 0 ${columns * width} ${height}"
        preserveAspectRatio="none"
        role="img"
        aria-label="${label}"
      >
        ${row.cells.map(({ column, reward }) =>
          reward === null
            ? ""
            : html`<rect
                class="q${levelOf(reward, map)}"
                x="${column * width}"
                width="${width}"
                height="${height}"
              />`,
        )}
        ${learned < 0 ? "" : html`<line class="learned" x1="${learned * width}" x2="${learned * width}" y2="${height}" />`}
      </svg>
    </td>
    <td class="number">${row.gain === null ? "–" : row.gain.toFixed(2)}</td>
    <td class="dim">${row.learnedAt === null ? row.fate : `step ${row.learnedAt}`}</td>
  </tr>`;
}

/** Empty where no task was tried twice. */
export function mapHtml(map: TaskMap): Html | string {
  if (map.columns.length < 2) return "";
  const { learned, lost, always, never } = map.fates;
  return html`<section class="panel">
    <h2>Tasks by steps</h2>
    <p class="dim small">
      ${map.phase}: ${learned} learned, ${lost} lost, ${always} always solved, ${never} never. From
      light, ${Number(map.low.toFixed(2))}, to dark, ${Number(map.high.toFixed(2))}, or the reverse
      on a dark page; a line: learned from here on. Steps ${map.columns[0]} to
      ${map.columns.at(-1)}.
    </p>
    <div class="scroll">
      <table class="map">
        <thead>
          <tr>
            <th scope="col">task</th>
            <th scope="col">reward by step</th>
            <th scope="col">gain</th>
            <th scope="col">learned at</th>
          </tr>
        </thead>
        <tbody>
          ${map.rows.slice(0, maxRows).map((row) => rowHtml(row, map))}
        </tbody>
      </table>
    </div>
  </section>`;
}
