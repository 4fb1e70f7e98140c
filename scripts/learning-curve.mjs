/**
 * The learning curve of a run as numbers and as a picture, from what its folder holds.
 *
 *   node scripts/learning-curve.mjs RUN OUT        writes OUT.json and OUT.svg
 */
import { readFileSync, writeFileSync } from "node:fs";
import { cpus, availableParallelism } from "node:os";
import { basename, join } from "node:path";
import { parse } from "yaml";

const [run, out] = process.argv.slice(2);
if (run === undefined || out === undefined) {
  console.error("Usage: node scripts/learning-curve.mjs RUN OUT");
  process.exit(2);
}

const linesOf = (file) =>
  readFileSync(join(run, file), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
const rounded = (value) => (value === undefined ? null : Number(value.toFixed(4)));

const metrics = linesOf("metrics.jsonl");
const events = linesOf("events.jsonl");
const training = metrics
  .filter(({ phase }) => phase === "train")
  .map((line) => ({
    step: line.step,
    reward: rounded(line["reward/mean"]),
    sampledNll: rounded(line["train/sampled_nll"]),
    tokens: line["tokens/sampled"],
    seconds: rounded(line["time/step_s"]),
  }));
const validation = metrics
  .filter(({ phase }) => phase === "validation")
  .map((line) => ({
    step: line.step,
    reward: rounded(line["val/reward/mean"]),
    right: rounded(line["val/pass@1"]),
    tasks: line["val/episodes"],
  }));

const curve = {
  machine: { cpu: cpus()[0]?.model ?? "unknown", cores: availableParallelism() },
  date: new Date(events.at(-1).time).toISOString(),
  seconds: Math.round((events.at(-1).time - events[0].time) / 1000),
  // The model is a path on somebody's machine.
  config: parse(readFileSync(join(run, "config.resolved.yaml"), "utf8"), (key, value) =>
    key === "name" ? basename(value) : key === "output_dir" ? undefined : value,
  ),
  validation,
  training,
};
writeFileSync(`${out}.json`, `${JSON.stringify(curve, null, 2)}\n`);
writeFileSync(`${out}.svg`, draw());

function draw() {
  const [width, height, left, right, top, bottom] = [720, 340, 44, 150, 20, 40];
  const last = Math.max(1, ...training.map(({ step }) => step));
  const x = (step) => left + (step / last) * (width - left - right);
  const y = (value) => height - bottom - value * (height - top - bottom);
  const at = (point, key) => `${x(point.step).toFixed(1)},${y(point[key]).toFixed(1)}`;
  const line = (points, key, color, extra = "") =>
    `<polyline points="${points.map((point) => at(point, key)).join(" ")}" fill="none" stroke="${color}" stroke-width="2" ${extra}/>`;
  const dots = (points, key, color) =>
    points.map((point) => {
      const [cx, cy] = at(point, key).split(",");
      return `<circle cx="${cx}" cy="${cy}" r="4" fill="${color}"/>`;
    });
  const text = (px, py, words, anchor, color = "#808080") =>
    `<text x="${px}" y="${py}" text-anchor="${anchor}" fill="${color}">${words}</text>`;
  const series = [
    { name: "training reward", points: training, key: "reward", color: "#9aa7b8" },
    {
      name: "validation reward",
      points: validation,
      key: "reward",
      color: "#2f7ed8",
      dotted: true,
    },
    {
      name: "validation, all right",
      points: validation,
      key: "right",
      color: "#2e9e5b",
      dotted: true,
    },
  ];
  const stride = Math.max(1, Math.ceil(last / 8));
  const ticks = Array.from({ length: Math.floor(last / stride) + 1 }, (_, i) => i * stride);
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="13" role="img">`,
    `<title>Reward against optimizer steps</title>`,
    ...[0, 0.25, 0.5, 0.75, 1].flatMap((value) => [
      `<line x1="${left}" x2="${width - right}" y1="${y(value)}" y2="${y(value)}" stroke="#808080" stroke-opacity="0.3"/>`,
      text(left - 8, y(value) + 4, value, "end"),
    ]),
    ...ticks.map((step) => text(x(step).toFixed(1), height - bottom + 20, step, "middle")),
    text(left + (width - left - right) / 2, height - 4, "optimizer steps", "middle"),
    ...series.flatMap(({ points, key, color, dotted }) => [
      line(points, key, color),
      ...(dotted === true ? dots(points, key, color) : []),
    ]),
    ...series.map(({ name, color }, i) =>
      text(width - right + 12, top + 14 + 22 * i, name, "start", color),
    ),
    "</svg>",
  ].join("\n")}\n`;
}
