/** Small pictures in a grid: the mean reward of each step, and held-out rewards before and after. */
import type { Row } from "./measure.ts";

const columns = 4;
const [width, height] = [180, 120];
const [left, right, top, bottom] = [28, 10, 24, 12];

function panel(row: Row, index: number): readonly string[] {
  const { family, curve, before, after, constant } = row;
  const x0 = (index % columns) * width;
  const y0 = Math.floor(index / columns) * height;
  const last = Math.max(1, curve.length - 1);
  const x = (step: number): string =>
    (x0 + left + (step / last) * (width - left - right)).toFixed(1);
  const y = (reward: number): string =>
    (y0 + height - bottom - reward * (height - top - bottom)).toFixed(1);
  const text = (at: readonly [number, number], words: string, anchor: string): string =>
    `<text x="${at[0]}" y="${at[1]}" text-anchor="${anchor}" fill="#808080">${words}</text>`;
  const points = curve.map((reward, step) => `${x(step)},${y(reward)}`).join(" ");
  const dot = (step: number, reward: number): string =>
    `<circle cx="${x(step)}" cy="${y(reward)}" r="3.5" fill="#2f7ed8"/>`;
  const across = (reward: number, extra: string): string =>
    `<line x1="${x(0)}" x2="${x(last)}" y1="${y(reward)}" y2="${y(reward)}" stroke="#808080" ${extra}/>`;
  return [
    ...[0, 1].map((reward) => across(reward, 'stroke-opacity="0.3"')),
    across(constant.mean, 'stroke-opacity="0.8" stroke-dasharray="3 3"'),
    text([x0 + left - 6, Number(y(0)) + 4], "0", "end"),
    text([x0 + left - 6, Number(y(1)) + 4], "1", "end"),
    text([x0 + left, y0 + 14], family, "start"),
    `<polyline points="${points}" fill="none" stroke="#2e9e5b" stroke-width="1.5"/>`,
    dot(0, before.mean),
    dot(last, after.mean),
  ];
}

/** An SVG of all families, in their order. */
export function drawCurves(rows: readonly Row[]): string {
  const size = `${columns * width} ${Math.ceil(rows.length / columns) * height}`;
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size}" font-family="system-ui, sans-serif" font-size="11" role="img">`,
    "<title>Mean reward against optimizer steps, for each family</title>",
    ...rows.flatMap(panel),
    "</svg>",
  ].join("\n")}\n`;
}
