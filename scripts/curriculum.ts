/**
 * Sampled tokens to the same validation score: tasks in uniform order, and by observed solve rates, on the mix of
 * `examples/curriculum/`. Five seeds each; what it has measured already is not measured again.
 *
 *   npx tsx --conditions=agent-trainer-source scripts/curriculum.ts FOLDER OUT.json [key=value ...]
 */
import { readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { AgentTrainer, loadConfig, trainSeeds } from "agent-trainer";
import { meanInterval } from "../src/runs/seeds/mean-interval.ts";

const target = 0.8;
const seeds = 5;
const [folder = "runs/curriculum", out = "result.json", ...overrides] = process.argv.slice(2);
const example = fileURLToPath(new URL("../examples/curriculum/", import.meta.url));
const file = join(example, "curriculum.yaml");
const arms = {
  uniform: { type: "none" },
  solve_rate: { type: "solve_rate" },
  "solve_rate, by kind": { type: "solve_rate", group_key: "kind" },
};

type Line = Readonly<Record<string, number>> & { readonly phase: string };

/** Tokens sampled in training before the first validation that reaches the target; null where none does. */
function tokensToTarget(run: string): number | null {
  let tokens = 0;
  for (const text of readFileSync(join(run, "metrics.jsonl"), "utf8").trim().split("\n")) {
    const line = JSON.parse(text) as Line;
    if (line.phase === "train") tokens += line["tokens/sampled"] ?? 0;
    else if ((line["val/pass@1"] ?? 0) >= target) return tokens;
  }
  return null;
}

const tokens: Record<string, { seed: number; tokens: number | null; reward: number | null }[]> = {};
for (const [arm, curriculum] of Object.entries(arms)) {
  const set = [...overrides, `data.curriculum=${JSON.stringify(curriculum)}`];
  const { runs } = await trainSeeds({
    ...{ folder: join(folder, arm.replaceAll(/\W+/gu, "-")), seeds, resume: true },
    config: (more) => loadConfig({ file, overrides: [...set, ...more] }).config,
    train: (config, run) => new AgentTrainer({ config, ...run }).train(),
    onRun: ({ name, index, of }) => console.log(`${arm}, run ${index + 1} of ${of}: ${name}`),
  });
  tokens[arm] = runs.map(({ path, seed, value }) => ({
    ...{ seed, tokens: tokensToTarget(path), reward: value },
  }));
}
/** Uniform over the other, seed by seed: the geometric mean, over the seeds with which both get there. */
function fewer(arm: string) {
  const logs = tokens["uniform"]!.flatMap(({ seed, tokens: before }) => {
    const after = tokens[arm]!.find((one) => one.seed === seed)?.tokens ?? null;
    return before === null || after === null ? [] : [Math.log(before / after)];
  });
  if (logs.length === 0) return null;
  const { mean, low, high } = meanInterval(logs);
  const exp = (value: number | null) => (value === null ? null : Math.exp(value));
  return { times: exp(mean), low: exp(low), high: exp(high), seeds: logs.length };
}
const report = {
  what: `tokens sampled in training before the first validation with pass@1 of at least ${target}`,
  machine: { cpu: cpus()[0]?.model ?? "", cores: cpus().length },
  date: new Date().toISOString(),
  overrides,
  tokens,
  fewer: Object.fromEntries(
    Object.keys(arms)
      .slice(1)
      .map((arm) => [arm, fewer(arm)]),
  ),
};
console.log(JSON.stringify(report.fewer, null, 2));
writeFileSync(join(example, out), `${JSON.stringify(report, null, 2)}\n`);
