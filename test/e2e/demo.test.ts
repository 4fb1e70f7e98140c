import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
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

const seeds = process.env["SOAK"] === undefined ? [1] : [1, 2, 3];

describe("agent-trainer demo", () => {
  it.each(seeds)("learns, with seed %i", async (seed) => {
    await using folder = await temporaryFolder();
    const result = await demo(folder.path, "--seed", String(seed));
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
      expect(existsSync(resolve(folder.path, result.runDir, file)), file).toBe(true);
    }
  });

  it("learns nothing with a learning rate of 0", async () => {
    await using folder = await temporaryFolder();
    const result = await demo(folder.path, "--seed", "1", "--lr", "0", "--steps", "4");
    // Validation has the same tasks and seeds: frozen weights give the same responses.
    expect(result.valLast).toBe(result.valFirst);
    expect(result.rewardLast).toBeLessThan(0.45);
  });

  it("gives the same numbers for the same seed, and others for another", async () => {
    await using folder = await temporaryFolder();
    const runs = [];
    for (const seed of ["7", "7", "8"]) {
      const { runDir } = await demo(folder.path, "--seed", seed, "--steps", "3");
      runs.push(await steadyMetrics(resolve(folder.path, runDir)));
    }
    expect(runs[0]!.length).toBe(5);
    expect(runs[1]).toEqual(runs[0]);
    expect(runs[2]).not.toEqual(runs[0]);
  });

  it("shows progress, transcripts before and after, and a summary to a person", async () => {
    await using folder = await temporaryFolder();
    const { code, stdout, stderr } = await cli(["demo", "--steps", "2"], { cwd: folder.path });
    expect(code).toBe(0);
    expect(stdout).toContain("Before training");
    expect(stdout).toContain("After training");
    expect(stdout).toMatch(/How much do \d \w+s cost\?/);
    expect(stdout).toMatch(/validation reward +0\.\d+ → 0\.\d+/);
    expect(stdout).toContain("run folder");
    expect(stderr).toMatch(/reward/);
  });
});
