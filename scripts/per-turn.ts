/**
 * Writes docs/per-turn.json and docs/per-turn.svg: which constructions of per-turn advantages are unbiased.
 *
 *   npx tsx --conditions=agent-trainer-source scripts/per-turn.ts
 */
import { writeFileSync } from "node:fs";
import {
  cases,
  constructions,
  estimatedGradient,
  groupCount,
  groupSize,
} from "../test/algorithms/per-turn.ts";

const rounded = (value: number): number => Number(value.toFixed(6));
const estimates = cases.flatMap(({ r1, r2 }) =>
  Object.entries(constructions).map(([construction, advantages]) => {
    const { mean, standardError } = estimatedGradient({ r1, r2 }, advantages);
    const truth = r2 / 4;
    return {
      r1,
      r2,
      construction,
      truth,
      mean: rounded(mean),
      standardError: rounded(standardError),
    };
  }),
);
const at = (name: string): URL => new URL(`../docs/${name}`, import.meta.url);
const written = { groups: groupCount, groupSize, estimates };
writeFileSync(at("per-turn.json"), `${JSON.stringify(written, null, 2)}\n`);

const [width, height, left, middle, scale] = [720, 300, 48, 130, 340];
const colors = ["#2563eb", "#9333ea", "#dc2626"];
const names = Object.keys(constructions);
const bars = cases.map(({ r1, r2 }, c) => {
  const x = left + 20 + c * 220;
  const own = names.map((name, i) => {
    const { mean } = estimates.find((e) => e.r1 === r1 && e.r2 === r2 && e.construction === name)!;
    const size = Math.max(1, Math.abs(mean) * scale);
    const y = mean > 0 ? middle - size : middle;
    const label = `<text x="${x + i * 52 + 21}" y="${mean > 0 ? y - 5 : y + size + 14}" text-anchor="middle">${mean.toFixed(3)}</text>`;
    return `<rect x="${x + i * 52}" y="${y}" width="42" height="${size}" fill="${colors[i]}"/>${label}`;
  });
  const truth = middle - (r2 / 4) * scale;
  return [
    ...own,
    `<line x1="${x - 8}" x2="${x + 156}" y1="${truth}" y2="${truth}" stroke="#111" stroke-dasharray="4 3"/>`,
    `<text x="${x + 73}" y="${height - 52}" text-anchor="middle">turn 1 pays ${r1}, turn 2 pays ${r2}</text>`,
  ].join("\n");
});
const legend = names.map(
  (name, i) =>
    `<rect x="${left + i * 225}" y="${height - 26}" width="12" height="12" fill="${colors[i]}"/><text x="${left + 18 + i * 225}" y="${height - 16}">${name}</text>`,
);
const title = "Gradient of going on to turn 2: estimated (bars) and true (dashed)";
writeFileSync(
  at("per-turn.svg"),
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12" role="img" aria-label="${title}">
<rect width="${width}" height="${height}" fill="#fff"/>
<text x="${left}" y="20" font-size="13">${title}</text>
<line x1="${left}" x2="${width - 20}" y1="${middle}" y2="${middle}" stroke="#999"/>
${[...bars, ...legend].join("\n")}
</svg>
`,
);
