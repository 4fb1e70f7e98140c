import { mkdirSync, mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { runCli } from "../program.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "agent-trainer-runs-"));
  const shop = join(folder, "shop");
  mkdirSync(join(shop, "checkpoints"), { recursive: true });
  writeFileSync(join(shop, "config.resolved.yaml"), "backend: local\nmodel: {name: tiny}\n");
  writeFileSync(join(shop, "metrics.jsonl"), '{"step":1,"phase":"train","reward/mean":0.25}\n');
  writeFileSync(join(shop, "events.jsonl"), '{"type":"run-start","totalSteps":4}\n');
});

async function run(...args: string[]) {
  let [out, err] = ["", ""];
  const code = await runCli(["runs", ...args], {
    stdout: { write: (text: string) => (out += text) },
    stderr: { write: (text: string) => (err += text) },
  });
  return { code, out, err };
}

it("lists runs as a table, or as JSON", async () => {
  const { code, out } = await run("list", folder);
  expect(code).toBe(0);
  const [header, row] = out.trim().split("\n");
  expect(header).toMatch(/^name +model +status +steps +reward +best validation +size +age$/u);
  expect(row).toMatch(/^shop +tiny +stopped +1\/4 +0\.250 → 0\.250 +- +\d+ \w+ +0 min$/u);
  const asJson = await run("list", folder, "--json");
  expect(JSON.parse(asJson.out)).toMatchObject([{ name: "shop", steps: 1, totalSteps: 4 }]);
});

it("shows one run", async () => {
  const { out } = await run("show", join(folder, "shop"));
  expect(out).toMatch(/^status +stopped$/mu);
  expect(out).toMatch(/^checkpoints +none$/mu);
  const { code, err } = await run("show", join(folder, "shp"));
  expect(code).toBe(2);
  expect(err).toContain("There is no run in ");
});

it("refuses to delete without --yes", async () => {
  const { code, out, err } = await run("gc", folder);
  expect([code, out]).toEqual([2, ""]);
  expect(err).toContain("needs --yes");
  expect(readdirSync(join(folder, "shop"))).toContain("checkpoints");
  expect((await run("gc", folder, "--yes")).out).toBe("deleted 0 B\n");
  expect((await run("gc", folder, "--dry-run", "--json")).out).toContain('"deleted":[]');
});

it("has examples in --help", async () => {
  for (const args of [[], ["list"], ["show"], ["gc"]]) {
    expect((await run(...args, "--help")).out).toContain("Examples:\n");
  }
});

/** A run with this configuration and these lines of metrics. */
function writeRun(name: string, config: string, metrics: readonly object[]): string {
  const path = join(folder, name);
  mkdirSync(path, { recursive: true });
  writeFileSync(
    join(path, "config.resolved.yaml"),
    `backend: local\nmodel: {name: tiny}\n${config}`,
  );
  const lines = metrics.map((line) => `${JSON.stringify(line)}\n`).join("");
  writeFileSync(join(path, "metrics.jsonl"), `${lines}{"step":9,"phase":"tra`);
  writeFileSync(join(path, "events.jsonl"), '{"type":"run-start","totalSteps":2}\n');
  return path;
}

it("shows losses of fine-tuning, of which the lowest is the best", async () => {
  writeRun("tuned", "", [
    { step: 0, phase: "validation", "val/loss": 3 },
    { step: 1, phase: "train", "train/loss": 2.5 },
    { step: 1, phase: "validation", "val/loss": 1.25 },
    { step: 2, phase: "train", "train/loss": 0.5 },
    { step: 2, phase: "validation", "val/loss": 1.5 },
  ]);
  const { out } = await run("list", folder);
  expect(out).toMatch(/^tuned .* 2\/2 +loss 2\.500 → 0\.500 +loss 1\.250 \(step 1\) /mu);
  const { out: json } = await run("show", join(folder, "tuned"), "--json");
  expect(JSON.parse(json)).toMatchObject({
    ...{ firstLoss: 2.5, lastLoss: 0.5, lastReward: null },
    bestValidation: { step: 1, value: 1.25, metric: "val/loss" },
  });
});

it("compares two runs: the options that differ, and their last metrics", async () => {
  const a = writeRun("a", "rollout: {n: 4}\ntrainer: {seed: 1, experiment_name: a}\n", [
    { step: 1, phase: "train", "reward/mean": 0.1, "train/loss": 2 },
    { step: 2, phase: "train", "reward/mean": 0.2, "train/loss": 1, "time/step_s": 3 },
    { step: 2, phase: "validation", "val/reward/mean": 0.25 },
  ]);
  const b = writeRun("b", "rollout: {n: 8}\ntrainer: {seed: 1, experiment_name: b}\n", [
    { step: 1, phase: "train", "reward/mean": 0.5 },
  ]);
  const { code, out } = await run("compare", a, b);
  expect(code).toBe(0);
  expect(
    out
      .trimEnd()
      .split("\n")
      .map((line) => line.split(/ {2,}/u)),
  ).toEqual([
    ["", "a", "b"],
    ["status", "stopped", "stopped"],
    ["steps", "2", "1"],
    ["best validation", "0.250 (step 2)", "-"],
    ["rollout.n", "4", "8"],
    ["reward/mean", "0.2", "0.5"],
    ["train/loss", "1", "-"],
    ["val/reward/mean", "0.25", "-"],
  ]);
  const asJson = await run("compare", a, b, "--json");
  expect(JSON.parse(asJson.out)).toMatchObject({
    options: { "rollout.n": ["4", "8"] },
    metrics: { "train/loss": [1, null] },
  });
  expect((await run("compare", a, a)).out).toMatch(/^options +the same +the same$/mu);
  const missing = await run("compare", a, join(folder, "c"));
  expect([missing.code, missing.err]).toEqual([2, expect.stringContaining("There is no run in ")]);
});
