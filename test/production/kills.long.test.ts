/** Commands that are killed at random moments, again and again, come to what they come to undisturbed. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { writeTraces } from "../../benchmarks/collect/write-traces.ts";
import { readRounds } from "../../src/runs/rounds/round-file.ts";
import { createRandom } from "../../src/util/random.ts";
import { argumentsOf } from "../cli/coin-project.ts";
import { newProduction } from "../improve/shop-production.ts";

const isSoak = process.env["SOAK"] === "1";
/** Of each command. */
const kills = isSoak ? 25 : 1;
const seeds = isSoak ? [1, 11, 21, 31, 41] : [1];
const timeout = isSoak ? 3_600_000 : 240_000;

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "kills-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Resolves with whether it ended by itself. */
async function start(args: readonly string[], killAfterMs: number | null): Promise<boolean> {
  const child = spawn(process.execPath, await argumentsOf(args), {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let err = "";
  child.stderr.on("data", (text: Buffer) => (err += String(text)));
  const timer =
    killAfterMs === null ? undefined : setTimeout(() => child.kill("SIGKILL"), killAfterMs);
  const [code, signal] = (await once(child, "close")) as [number | null, string | null];
  clearTimeout(timer);
  if (signal === null) expect(code, err).toBe(0);
  return signal === null;
}

interface Command {
  /** For what it makes undisturbed, or disturbed. */
  readonly args: (disturbed: boolean) => readonly string[];
  /** What the disturbed one makes. */
  readonly output: string;
}

/**
 * Undisturbed, then killed at random moments of that time until it ends by itself. Returns how often it was killed,
 * once at least.
 */
async function killAtRandom(seed: number, { args, output }: Command): Promise<number> {
  const random = createRandom(seed);
  const began = performance.now();
  await start(args(false), null);
  let tookMs = performance.now() - began;
  let killed = 0;
  while (killed < kills) {
    // The beginning is the same for all: modules are loaded.
    if (!(await start(args(true), tookMs * (0.3 + 0.7 * random())))) killed++;
    else if (killed > 0) return killed;
    else {
      // It was faster than the first.
      tookMs *= 0.8;
      rmSync(output, { recursive: true, force: true });
    }
  }
  await start(args(true), null);
  return killed;
}

const names = ["tasks", "demonstrations", "feedback", "val/tasks", "val/feedback"];
const rowsOf = (output: string): readonly string[] =>
  names.map((name) => readFileSync(join(output, `${name}.jsonl`), "utf8"));

it.each(seeds)("collect and curate, seed %i", { timeout }, async (seed) => {
  const traces = join(folder, "traces.jsonl");
  writeTraces(traces, isSoak ? 20_000 : 2000);
  const store = (disturbed: boolean): string => join(folder, disturbed ? "killed" : "whole");
  const collected = await killAtRandom(seed, {
    args: (disturbed) => ["collect", store(disturbed), traces, "--format", "otel"],
    output: store(true),
  });
  const output = (name: string): string => join(folder, `curated-${name}`);
  const curate = (from: string, to: string) => ["curate", from, "--output", to, "--unrated"];
  await start(curate(store(true), output("killed-store")), null);
  const curated = await killAtRandom(seed + 1, {
    args: (disturbed) => curate(store(false), output(disturbed ? "killed" : "whole")),
    output: output("killed"),
  });
  const whole = rowsOf(output("whole"));
  expect(whole[0]!.split("\n").length).toBeGreaterThan(1000);
  // What was read twice is there twice, and curated once.
  expect(rowsOf(output("killed-store"))).toEqual(whole);
  if (!existsSync(output("killed"))) throw new Error("It was never made.");
  expect(rowsOf(output("killed"))).toEqual(whole);
  if (isSoak) console.log(`collect was killed ${collected} times, curate ${curated} times`);
});

it.each(seeds)("improve, seed %i", { timeout }, async (seed) => {
  using production = newProduction();
  await production.add("first", 16);
  const rounds = (name: string): string => join(production.folder, name);
  const killed = await killAtRandom(seed + 2, {
    args: (disturbed) => [
      ...["improve", production.file, `folder=${rounds(disturbed ? "killed" : "whole")}`],
    ],
    output: rounds("killed"),
  });
  const facts = (name: string): unknown => {
    const all = readRounds(rounds(name));
    const model = all.at(-1)?.train?.candidate.model ?? "";
    const { files } = JSON.parse(readFileSync(join(model, "state.json"), "utf8")) as object & {
      files: unknown;
    };
    return all.map(({ round, status, curate, train, gate }) => [
      { round, status, curate, steps: train?.steps, verdict: gate?.verdict, files },
      gate?.difference,
    ]);
  };
  expect(facts("killed")).toEqual(facts("whole"));
  if (isSoak) console.log(`improve was killed ${killed} times`);
});
