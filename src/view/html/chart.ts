/** Metrics as pictures that need no script. */
import { html } from "hono/html";
import type { HtmlEscapedString } from "hono/utils/html";
import type { MetricTable } from "../api/runs.ts";
import { bestOf, rewardSpread, type Values } from "../curves.ts";

/** What the template makes. */
export type Html = HtmlEscapedString | Promise<HtmlEscapedString>;
type Point = readonly [step: number, value: number];

const short = (value: number): string => String(Number(value.toPrecision(4)));

const pointsOf = ({ steps }: MetricTable, values: Values | undefined): Point[] =>
  steps.flatMap((step, i): Point[] => {
    const value = values?.[i];
    return typeof value === "number" ? [[step, value]] : [];
  });

const extent = (values: readonly number[]): readonly [number, number] => [
  values.reduce((least, value) => Math.min(least, value), Infinity),
  values.reduce((most, value) => Math.max(most, value), -Infinity),
];

/** Where a point is in the picture. */
function placer(points: readonly Point[], [width, height, margin]: readonly number[]) {
  const [w = 0, h = 0, m = 0] = [width, height, margin];
  const [from, to] = extent(points.map(([step]) => step));
  const [low, high] = extent(points.map(([, value]) => value));
  const x = (step: number): number => m + ((step - from) / Math.max(1, to - from)) * (w - 2 * m);
  const y = (value: number): number =>
    h - m - ((value - low) / Math.max(1e-12, high - low)) * (h - 2 * m);
  return {
    low,
    high,
    at: ([step, value]: Point): string => `${x(step).toFixed(1)},${y(value).toFixed(1)}`,
    x,
    y,
  };
}

/** Null where there are fewer than two points. */
export function chart(name: string, table: MetricTable): Html | null {
  const points = pointsOf(table, table.series[name]);
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined || points.length < 2) return null;
  const size = [320, 90, 6];
  const { low, high, at } = placer(points, size);
  const title = `${name}: ${short(first[1])} at step ${first[0]}, ${short(last[1])} at step ${last[0]}, from ${short(low)} to ${short(high)}`;
  return html`<figure>
    <svg viewBox="0 0 ${size[0]} ${size[1]}" role="img" aria-label="${title}">
      <polyline class="curve" points="${points.map(at).join(" ")}" />
    </svg>
    <figcaption>${title}</figcaption>
  </figure>`;
}

/** The reward with the spread of its rollouts, and validations with the best of them; null for fewer than two steps. */
export function learningChart(table: MetricTable): Html | null {
  const { mean, low, high } = rewardSpread(table);
  const points = pointsOf(table, mean);
  if (points.length < 2) return null;
  const edges = [pointsOf(table, high), pointsOf(table, low)] as const;
  const validations = table.series["val/reward/mean"];
  const measured = pointsOf(table, validations);
  const best = measured[bestOf(measured.map(([, value]) => value)) ?? -1];
  const size = [720, 240, 28];
  const place = placer([...points, ...edges[0], ...edges[1], ...measured], size);
  const [first, last] = [points[0]?.[1] ?? 0, points.at(-1)?.[1] ?? 0];
  const title = `reward ${short(first)} → ${short(last)}${best === undefined ? "" : `, best validation ${short(best[1])} at step ${best[0]}`}`;
  const ticks = [place.low, (place.low + place.high) / 2, place.high];
  return html`<figure>
    <svg viewBox="0 0 ${size[0]} ${size[1]}" role="img" aria-label="${title}">
      ${ticks.map(
        (tick) =>
          html`<line
              class="grid"
              x1="28"
              x2="692"
              y1="${place.y(tick)}"
              y2="${place.y(tick)}"
            /><text x="0" y="${place.y(tick) + 4}">${Number(tick.toPrecision(2))}</text>`,
      )}
      <polygon
        class="band"
        points="${[...edges[0], ...edges[1].toReversed()].map(place.at).join(" ")}"
      />
      <polyline class="curve" points="${points.map(place.at).join(" ")}" />
      ${measured.map(([step, value]) => html`<circle class="point" cx="${place.x(step)}" cy="${place.y(value)}" r="3.5" />`)}
      ${best === undefined ? "" : html`<circle class="best" cx="${place.x(best[0])}" cy="${place.y(best[1])}" r="7" />`}
    </svg>
    <figcaption>
      ${title}; the area is one standard deviation of the rollouts, points are validations
    </figcaption>
  </figure>`;
}
