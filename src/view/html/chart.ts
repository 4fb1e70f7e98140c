/** One metric as a small picture that needs no script. */
import { html } from "hono/html";
import type { HtmlEscapedString } from "hono/utils/html";
import type { MetricTable } from "../api.ts";

const [width, height, margin] = [320, 90, 6];
const short = (value: number): string => String(Number(value.toPrecision(4)));

/** Null where there are fewer than two points. */
export function chart(
  name: string,
  { steps, series }: MetricTable,
): HtmlEscapedString | Promise<HtmlEscapedString> | null {
  const points = steps.flatMap((step, i): [number, number][] => {
    const value = series[name]?.[i];
    return typeof value === "number" ? [[step, value]] : [];
  });
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined || points.length < 2) return null;
  const values = points.map(([, value]) => value);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const x = (step: number): number =>
    margin + ((step - first[0]) / Math.max(1, last[0] - first[0])) * (width - 2 * margin);
  const y = (value: number): number =>
    height - margin - ((value - low) / Math.max(1e-12, high - low)) * (height - 2 * margin);
  const path = points.map(([step, value]) => `${x(step).toFixed(1)},${y(value).toFixed(1)}`);
  const title = `${name}: ${short(first[1])} at step ${first[0]}, ${short(last[1])} at step ${last[0]}, from ${short(low)} to ${short(high)}`;
  return html`<figure>
    <svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${title}">
      <polyline points="${path.join(" ")}" />
    </svg>
    <figcaption>${title}</figcaption>
  </figure>`;
}
