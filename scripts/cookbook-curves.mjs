/**
 * Runs the cookbooks and writes their curves: docs/cookbooks.json and docs/images/cookbook-NAME.svg.
 *
 *   node scripts/cookbook-curves.mjs                  all of them
 *   node scripts/cookbook-curves.mjs sql judge        some of them; the curves of the others stay
 *   node scripts/cookbook-curves.mjs sql=FILE         a file has what a cookbook printed in an earlier run
 */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, tmpdir } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const cookbooks = {
  sql: ["sql.ts"],
  "solver-checker": ["solver-checker.ts"],
  judge: ["group-judge.ts"],
  labels: ["group-judge.ts", "labels"],
};
/** Curves of one picture. */
const pictures = {
  sql: ["sql"],
  "solver-checker": ["solver-checker"],
  "group-judge": ["judge", "labels"],
};
const given = new Map(process.argv.slice(2).map((pair) => pair.split("=")));
const unknown = [...given.keys()].find((name) => cookbooks[name] === undefined);
if (unknown !== undefined) {
  console.error(`There is no curve "${unknown}"; there are ${Object.keys(cookbooks).join(", ")}.`);
  process.exit(2);
}

function printedBy(name) {
  if (given.size > 0 && !given.has(name)) return "";
  const printed = given.get(name);
  if (printed !== undefined) return readFileSync(printed, "utf8");
  const [file, ...args] = cookbooks[name];
  const { stdout, status } = spawnSync(
    process.execPath,
    [
      "--import",
      "tsx",
      "--conditions=agent-trainer-source",
      join(root, "examples/cookbooks", file),
      ...args,
      `trainer.output_dir=${JSON.stringify(join(tmpdir(), `cookbook-${name}-${Date.now()}`))}`,
    ],
    { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] },
  );
  if (status !== 0) throw new Error(`${file} ended with exit status ${status}.`);
  return stdout;
}

/** `step 3  solver 0.5  checker 0.7` to a point. */
function pointOf(line) {
  const words = line.trim().split(/\s+/);
  if (words[0] !== "step") return [];
  const pairs = [];
  for (let i = 0; i + 1 < words.length; i += 2) pairs.push([words[i], Number(words[i + 1])]);
  return [Object.fromEntries(pairs)];
}

const file = join(root, "docs/cookbooks.json");
const machine = { cpu: cpus()[0]?.model ?? "unknown", cores: availableParallelism() };
const known = given.size > 0 ? JSON.parse(readFileSync(file, "utf8")).curves : {};
const curves = { ...known };
for (const name of Object.keys(cookbooks)) {
  const points = printedBy(name).split("\n").flatMap(pointOf);
  if (points.length > 0) curves[name] = points;
}
writeFileSync(file, `${JSON.stringify({ machine, curves }, null, 2)}\n`);

const colors = ["#2563eb", "#d97706"];
for (const [picture, names] of Object.entries(pictures)) {
  const lines = names.flatMap((name) =>
    Object.keys(curves[name]?.[0] ?? {})
      .filter((key) => key !== "step")
      .map((key) => ({ label: names.length > 1 ? name : key, key, points: curves[name] })),
  );
  if (lines.length > 0)
    writeFileSync(join(root, "docs/images", `cookbook-${picture}.svg`), draw(lines));
}

function draw(lines) {
  const [width, height, left, top, right, bottom] = [640, 260, 40, 14, 110, 34];
  const last = Math.max(...lines.flatMap(({ points }) => points.map(({ step }) => step)));
  const x = (step) => left + ((width - left - right) * step) / last;
  const y = (value) => top + (height - top - bottom) * (1 - value);
  const grid = [0, 0.25, 0.5, 0.75, 1].map(
    (value) =>
      `<line x1="${left}" x2="${width - right}" y1="${y(value)}" y2="${y(value)}" stroke="#ddd"/>` +
      `<text x="${left - 6}" y="${y(value) + 4}" text-anchor="end">${value}</text>`,
  );
  const drawn = lines.map(({ label, key, points }, i) => {
    const path = points.map((one) => `${x(one.step).toFixed(1)},${y(one[key]).toFixed(1)}`);
    const end = points.at(-1);
    return (
      `<polyline fill="none" stroke="${colors[i]}" stroke-width="2" points="${path.join(" ")}"/>` +
      `<text fill="${colors[i]}" x="${x(end.step) + 6}" y="${y(end[key]) + 4}">${label}</text>`
    );
  });
  const axis = `<text x="${(left + width - right) / 2}" y="${height - 8}" text-anchor="middle">step</text>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12"><rect width="${width}" height="${height}" fill="#fff"/>${grid.join("")}${drawn.join("")}${axis}</svg>\n`;
}
