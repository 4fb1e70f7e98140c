/**
 * What the cookbook "every night" printed for some seeds, as docs/every-night.json with intervals over seeds, and as
 * docs/images/every-night.svg.
 *
 *   node scripts/every-night.mjs FILE...     each has what a run of nights.ts wrote to stdout
 */
import { readFileSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const runs = process.argv
  .slice(2)
  .map((file) => JSON.parse(readFileSync(file, "utf8").trim().split("\n").at(-1)))
  .sort((a, b) => a.seed - b.seed);
/** Two-sided 95 % quantiles of Student's t by degrees of freedom. */
const quantiles = [0, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262];

function intervalOf(values) {
  const n = values.length;
  const mean = values.reduce((sum, value) => sum + value, 0) / n;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (n - 1);
  const half = (quantiles[n - 1] ?? 1.96) * Math.sqrt(variance / n);
  const short = (value) => Number(value.toFixed(3));
  return { mean: short(mean), low: short(mean - half), high: short(mean + half) };
}

const days = runs[0].days.map(({ day }, i) => {
  const test = runs.map((run) => run.days[i].test);
  const gained = i === 0 ? [] : runs.map((run, k) => test[k] - run.days[i - 1].test);
  return { day, test: intervalOf(test), ...(i === 0 ? {} : { gain: intervalOf(gained) }) };
});
const machine = { cpu: cpus()[0]?.model ?? "unknown", cores: availableParallelism() };
const result = { machine, conversationsPerDay: runs[0].conversations, days, runs };
writeFileSync(join(root, "docs/every-night.json"), `${JSON.stringify(result, null, 2)}\n`);

const [width, height, left, top, right, bottom] = [640, 260, 40, 14, 130, 34];
const last = days.length - 1;
const x = (day) => left + ((width - left - right) * day) / last;
const y = (value) => top + (height - top - bottom) * (1 - value);
const grid = [0, 0.25, 0.5, 0.75, 1].map(
  (value) =>
    `<line x1="${left}" x2="${width - right}" y1="${y(value)}" y2="${y(value)}" stroke="#ddd"/>` +
    `<text x="${left - 6}" y="${y(value) + 4}" text-anchor="end">${value}</text>`,
);
const line = (values, color, thick) =>
  `<polyline fill="none" stroke="${color}" stroke-width="${thick}" points="${values
    .map((value, day) => `${x(day).toFixed(1)},${y(value).toFixed(1)}`)
    .join(" ")}"/>`;
const names = ["before", "night 1", "night 2", "night 3", "inverted"];
const axis = names.map(
  (name, day) => `<text x="${x(day)}" y="${height - 12}" text-anchor="middle">${name}</text>`,
);
const end = days[last].test.mean;
const drawn = [
  ...grid,
  ...runs.map((run) =>
    line(
      run.days.map(({ test }) => test),
      "#bfd0f5",
      1,
    ),
  ),
  line(
    days.map(({ test }) => test.mean),
    "#2563eb",
    2,
  ),
  ...axis,
  `<text fill="#2563eb" x="${x(last) + 6}" y="${y(end) + 4}">right answers</text>`,
];
writeFileSync(
  join(root, "docs/images/every-night.svg"),
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12"><rect width="${width}" height="${height}" fill="#fff"/>${drawn.join("")}</svg>\n`,
);
