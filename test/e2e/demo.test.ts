import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cli, steadyMetrics, temporaryFolder } from "./cli-process.ts";

interface DemoResult {
  rewardFirst: number;
  rewardLast: number;
  valFirst: number;
  valLast: number;
  secondsToFirstUpdate: number;
  seconds: number;
  steps: number;
  seed: number;
  runDir: string;
}

async function demo(cwd: string, ...args: string[]): Promise<DemoResult> {
  const { code, stdout, stderr } = await cli(["demo", "--json", ...args], { cwd });
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout.trimEnd().split("\n").at(-1)!) as DemoResult;
}

/** Metrics of the first validation and of two steps. */
async function beginningOf({ runDir }: { readonly runDir: string }): Promise<unknown[]> {
  // A run that plans fewer steps begins in the same way; only its learning rate falls faster.
  const planned = { "progress/done_fraction": null, "progress/lr": null };
  const lines = await steadyMetrics(resolve(shared.path, runDir));
  return lines.slice(0, 3).map((line) => ({ ...line, ...planned }));
}

const seeds = process.env["SOAK"] === undefined ? [1] : [1, 2, 3];
const whole = new Map<number, DemoResult>();
let shared: Awaited<ReturnType<typeof temporaryFolder>>;

beforeAll(async () => {
  shared = await temporaryFolder();
});
afterAll(() => shared[Symbol.asyncDispose]());

describe("agent-trainer demo", () => {
  it.each(seeds)("learns, with seed %i", async (seed) => {
    const result = await demo(shared.path, "--seed", String(seed));
    whole.set(seed, result);
    expect(result.valFirst).toBeLessThanOrEqual(0.35);
    expect(result.valLast).toBeGreaterThanOrEqual(0.9);
    expect(result.rewardLast).toBeGreaterThan(result.rewardFirst + 0.4);
    expect(result.seed).toBe(seed);
    for (const file of [
      "config.resolved.yaml",
      "events.jsonl",
      "metrics.jsonl",
      "episodes",
      "checkpoints",
    ]) {
      expect(existsSync(resolve(shared.path, result.runDir, file)), file).toBe(true);
    }
  });

  it("learns nothing with a learning rate of 0", async () => {
    await using folder = await temporaryFolder();
    const result = await demo(folder.path, "--seed", "1", "--lr", "0", "--steps", "1");
    // Validation has the same tasks and seeds: frozen weights give the same responses.
    expect(result.valLast).toBe(result.valFirst);
    expect(result.rewardLast).toBeLessThan(0.45);
  });

  it("gives the same numbers for the same seed", async () => {
    const again = await demo(shared.path, "--seed", "1", "--steps", "2");
    const lines = await beginningOf(again);
    expect(lines).toHaveLength(3);
    expect(lines).toEqual(await beginningOf(whole.get(1)!));
  });

  it("shows progress, transcripts before and after, and a summary to a person; another seed has other numbers", async () => {
    const args = ["demo", "--seed", "8", "--steps", "1"];
    const { code, stdout, stderr } = await cli(args, { cwd: shared.path });
    expect(code).toBe(0);
    expect(stdout).toContain("Before training");
    expect(stdout).toContain("After training");
    expect(stdout).toMatch(/How much do \d \w+s cost\?/);
    expect(stdout).toMatch(/validation reward +0\.\d+ → 0\.\d+/);
    expect(stderr).toMatch(/reward/);
    const [, runDir = ""] = /run folder: (\S+)/u.exec(stdout) ?? [];
    const [, other] = await beginningOf({ runDir });
    expect(other).toHaveProperty("step", 1);
    expect(other).not.toEqual((await beginningOf(whole.get(1)!))[1]);
  });
});
