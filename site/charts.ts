/** The curves that docs/ shows as pictures, as numbers from the files next to them, for charts that answer the mouse. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../test/docs/pages.ts";

export interface Chart {
  readonly x: string;
  readonly series: readonly Series[];
}

interface Series {
  readonly name: string;
  readonly points: readonly (readonly [x: number, y: number])[];
}

type Row = Readonly<Record<string, number>>;

const read = (name: string): unknown => JSON.parse(readFileSync(join(root, "docs", name), "utf8"));

const seriesOf = (name: string, rows: readonly Row[], x: string, y: string): Series => ({
  name,
  points: rows.filter((row) => row[y] !== undefined).map((row) => [row[x]!, row[y]!]),
});

function cookbook(names: readonly string[]): Chart {
  const { curves } = read("cookbooks.json") as { curves: Record<string, readonly Row[]> };
  const series = names.flatMap((name) => {
    const rows = curves[name]!;
    const keys = Object.keys(rows[0]!).filter((key) => key !== "step");
    return keys.map((key) =>
      seriesOf(names.length > 1 ? `${name}: ${key}` : key, rows, "step", key),
    );
  });
  return { x: "step", series };
}

/** A line for each seed of each arm. */
function arms(file: string, x: string, label: string): Chart {
  const { arms: byName } = read(file) as { arms: Record<string, readonly Row[]> };
  const series = Object.entries(byName).flatMap(([name, rows]) =>
    [...new Set(rows.map(({ seed }) => seed))].map((seed) =>
      seriesOf(
        `${name}, seed ${seed}`,
        rows.filter((row) => row["seed"] === seed),
        x,
        "right",
      ),
    ),
  );
  return { x: label, series };
}

function smollm2(): Chart {
  const { training, validation } = read("learning-smollm2.json") as Record<string, Row[]>;
  return {
    x: "step",
    series: [
      seriesOf("training reward", training!, "step", "reward"),
      seriesOf("validation reward", validation!, "step", "reward"),
      seriesOf("validation, all right", validation!, "step", "right"),
    ],
  };
}

function reasoningGym(): Chart {
  const { families } = read("reasoning-gym.json") as {
    families: readonly { family: string; curve: number[] }[];
  };
  const series = families.map(({ family, curve }) => ({
    name: family.replaceAll("_", " "),
    points: curve.map((reward, i) => [i + 1, reward] as const),
  }));
  return { x: "step", series };
}

/** Of the run that was recorded for the site. */
function recorded(runFolder: string): Chart {
  const rows = readFileSync(join(runFolder, "metrics.jsonl"), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Row & { phase: string });
  const of = (phase: string): Row[] => rows.filter((row) => row.phase === phase);
  return {
    x: "step",
    series: [
      seriesOf("training reward", of("train"), "step", "reward/mean"),
      seriesOf("validation reward", of("validation"), "step", "val/reward/mean"),
    ],
  };
}

/** By the picture that a chart replaces. */
export function readCharts(runFolder: string): Readonly<Record<string, Chart>> {
  return {
    "docs/learning-demo.svg": recorded(runFolder),
    "docs/learning-smollm2.svg": smollm2(),
    "docs/images/cookbook-sql.svg": cookbook(["sql"]),
    "docs/images/cookbook-solver-checker.svg": cookbook(["solver-checker"]),
    "docs/images/cookbook-group-judge.svg": cookbook(["judge", "labels"]),
    "docs/sft-then-rl.svg": arms("sft-then-rl.json", "tokens", "tokens"),
    "docs/sft-then-rl-smollm2.svg": arms(
      "sft-then-rl-smollm2.json",
      "processorSeconds",
      "processor seconds",
    ),
    "docs/reasoning-gym.svg": reasoningGym(),
  };
}
