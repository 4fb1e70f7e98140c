import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readRunHealth } from "../../src/runs.ts";
import { coinBackend } from "./coin-backend.ts";
import { coinTrainer, newFolder, readLines } from "./coin-run.ts";

/** A run of eight steps whose gradient explodes in the fourth; or the rest of it. */
function exploding(set: Record<string, unknown> = {}, resume?: string, outputDir = newFolder()) {
  let updates = 0;
  const made = coinTrainer({
    backend: coinBackend({ report: () => ({ grad_norm: ++updates > 3 ? 5000 : 1 }) }),
    outputDir,
    ...(resume === undefined ? {} : { resume }),
    set: {
      "algorithm.filter_uniform_groups": false,
      "trainer.total_batches": 8,
      "trainer.save_freq": 0,
      ...set,
    },
  });
  const warned = (): (readonly [number, string])[] =>
    made.events.flatMap((event) =>
      event.type === "health" ? [[event.step, event.finding.disease] as const] : [],
    );
  return { ...made, warned, outputDir, runDir: join(outputDir, "coin") };
}

const recorded = (runDir: string): unknown[] =>
  readLines(runDir, "events.jsonl").filter(({ type }) => type === "health");

it("warns once of a disease, in events and in the run folder, and goes on", async () => {
  const run = exploding();
  await run.trainer.train();
  expect(run.warned()).toEqual([[5, "gradient_exploding"]]);
  expect(recorded(run.runDir)).toHaveLength(1);
  expect(readLines(run.runDir, "metrics.jsonl")).toHaveLength(8);
  expect(await readRunHealth(run.runDir)).toMatchObject([
    { disease: "gradient_exploding", warnedAt: 5, isCurrent: true, severity: "problem" },
  ]);
});

it("ends a run by rule after a saved step, and a resumed one again, until the rule is taken out", async () => {
  const stop = { "health.stop": ["gradient_exploding"] };
  const first = exploding(stop);
  await expect(first.trainer.train()).rejects.toMatchObject({
    code: "UNHEALTHY",
    message: expect.stringContaining("health.stop ends the run after step 5") as string,
    fields: { disease: "gradient_exploding", step: 5 },
  });
  const { runDir, outputDir } = first;
  expect(readdirSync(join(runDir, "checkpoints"))).toEqual(["000005"]);
  const again = exploding(stop, runDir, outputDir);
  await expect(again.trainer.train()).rejects.toMatchObject({ code: "UNHEALTHY" });
  expect(readdirSync(join(runDir, "checkpoints")).at(-1)).toBe("000006");
  const last = exploding({}, runDir, outputDir);
  expect(await last.trainer.train()).toMatchObject({ status: "completed", steps: 8 });
  // Neither of the resumed parts warned again.
  expect([...again.warned(), ...last.warned()]).toEqual([]);
  expect(recorded(runDir)).toHaveLength(1);
});

it("looks at asynchronous runs, too", async () => {
  const run = exploding({ "async_training.enable": true });
  await run.trainer.train();
  expect(run.warned().map(([, disease]) => disease)).toContain("gradient_exploding");
});

it("does not look where it is switched off, and refuses names that it does not know", async () => {
  const off = exploding({ "health.enabled": false });
  await off.trainer.train();
  expect(off.warned()).toEqual([]);
  expect(await readRunHealth(off.runDir)).toMatchObject([{ warnedAt: null, isCurrent: true }]);
  expect(() => exploding({ "health.stop": ["boredom"] })).toThrow("health.stop");
});

it("reads what the run warned of first before what may follow from it", async () => {
  const folder = newFolder();
  const lines = (values: readonly object[]): string =>
    values.map((value) => `${JSON.stringify(value)}\n`).join("");
  const metrics = Array.from({ length: 10 }, (_, i) => ({
    step: i + 1,
    phase: "train",
    "reward/mean": 0.3,
    "reward/std": 0,
    "episode/truncated": 0.8,
  }));
  writeFileSync(join(folder, "metrics.jsonl"), lines(metrics));
  const warned = (step: number, disease: string) => ({
    type: "health",
    step,
    finding: { disease },
  });
  for (const order of [
    ["truncation", "no_reward_variance"],
    ["no_reward_variance", "truncation"],
  ] as const) {
    writeFileSync(join(folder, "events.jsonl"), lines([warned(3, order[0]), warned(8, order[1])]));
    const found = await readRunHealth(folder);
    expect(found.map(({ disease }) => disease)).toEqual([...order]);
  }
});
