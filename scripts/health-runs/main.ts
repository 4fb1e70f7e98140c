/**
 * Records the metrics of small real runs on the built-in model, for `test/health/`:
 *
 *   npx tsx --conditions=agent-trainer-source scripts/health-runs/main.ts [NAME...]
 *
 * Without names, all that are not recorded yet. Takes some seconds to a minute each.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { diseasedRuns, type DiseasedRun } from "./diseased.ts";
import { healthyRuns, type RunCase } from "./healthy.ts";
import { trainCase } from "./train-case.ts";

const out = fileURLToPath(new URL("../../test/fixtures/health-runs", import.meta.url));

type Line = Record<string, number | string>;

const rounded = (value: number): number => Number(value.toPrecision(4));

/** Lines of `metrics.jsonl` by column; a column that is the same everywhere is one number. */
function columns(lines: readonly Line[]): Record<string, unknown> {
  const names = new Set(lines.flatMap((line) => Object.keys(line)));
  names.delete("step");
  names.delete("phase");
  const kept = [...names].filter((name) => !name.startsWith("time/") && name !== "tokens/per_s");
  return Object.fromEntries(
    kept.map((name) => {
      const values = lines.map((line) =>
        line[name] === undefined ? null : rounded(Number(line[name])),
      );
      return [name, new Set(values).size === 1 ? values[0] : values];
    }),
  );
}

async function record(name: string, run: RunCase | DiseasedRun, kind: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "health-run-"));
  const begin = performance.now();
  try {
    const result = await trainCase(run, {
      "trainer.output_dir": folder,
      "trainer.experiment_name": "run",
    });
    const text = readFileSync(join(result.runDir, "metrics.jsonl"), "utf8").trimEnd();
    const lines = text.split("\n").map((line) => JSON.parse(line) as Line);
    const { model: _model, ...options } = { model: "", ...run.config };
    const facts = {
      ...("disease" in run ? { disease: run.disease, about: run.about } : {}),
      source: "recorded",
      options,
      steps: lines.map(({ step }) => step),
      phases: lines.map(({ phase }) => phase),
      metrics: columns(lines),
    };
    mkdirSync(join(out, kind), { recursive: true });
    writeFileSync(join(out, kind, `${name}.json`), `${JSON.stringify(facts)}\n`);
    const rewards = lines.flatMap((line) => line["reward/mean"] ?? []);
    const seconds = ((performance.now() - begin) / 1000).toFixed(0);
    console.log(
      `${kind} ${name}: ${result.status}, reward ${rewards[0]} -> ${rewards.at(-1)}, ${seconds} s`,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const wanted = process.argv.slice(2);
for (const [kind, runs] of [
  ["diseased", diseasedRuns],
  ["healthy", healthyRuns],
] as const) {
  for (const [name, run] of Object.entries(runs)) {
    const isWanted =
      wanted.length === 0 ? !existsSync(join(out, kind, `${name}.json`)) : wanted.includes(name);
    if (!isWanted) continue;
    await record(name, run, kind).catch((error: unknown) => console.error(`${name}:`, error));
  }
}
