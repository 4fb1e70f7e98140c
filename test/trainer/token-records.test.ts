/** Per-token numbers of training that a run keeps (`record.token_rows`). */
import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { AgentConfig } from "../../src/core/agent.ts";
import type { Task } from "../../src/core/task.ts";
import type { TokenRecord } from "../../src/core/token-record.ts";
import { coinBackend, type CoinUpdate } from "./coin-backend.ts";
import { coinAgent, coinTrainer, newFolder, readLines } from "./coin-run.ts";

interface Ran {
  readonly runDir: string;
  readonly outputDir: string;
  readonly updates: readonly CoinUpdate[];
  readonly passes: readonly string[];
  readonly warnings: readonly string[];
}

async function run(
  set: Readonly<Record<string, unknown>>,
  more: Record<string, unknown> = {},
): Promise<Ran> {
  const outputDir = (more["outputDir"] as string | undefined) ?? newFolder();
  const passes: string[] = [];
  const backend = coinBackend({
    weight: 0.3,
    capabilities: { forward: true, reference: true, klEstimators: ["k3"] },
    onForward: (rows, which) => passes.push(`${which} ${rows.length}`),
  });
  const { trainer, events } = coinTrainer({
    backend: { ...backend, ...(more["backend"] as object | undefined) },
    outputDir,
    ...(more["resume"] === undefined ? {} : { resume: more["resume"] as string }),
    set: { "trainer.total_batches": 2, "algorithm.filter_uniform_groups": false, ...set },
  });
  await trainer.train();
  const warnings = events.flatMap((event) => (event.type === "warning" ? [event.message] : []));
  return { runDir: join(outputDir, "coin"), outputDir, updates: backend.updates, passes, warnings };
}

const recordsOf = (runDir: string, step: string): TokenRecord[] =>
  readLines(runDir, "tokens", `${step}.jsonl`) as unknown as TokenRecord[];

it("holds what the update had: log-probabilities of both models, advantages and masks", async () => {
  const { runDir, updates, passes } = await run({
    "record.token_rows": -1,
    "algorithm.kl_beta": 0.1,
  });
  const records = recordsOf(runDir, "000001");
  const episodes = readLines(runDir, "episodes", "000001.jsonl");
  expect(records).toHaveLength(8);
  expect(new Set(records.map(({ episode }) => episode))).toEqual(
    new Set(episodes.map(({ id }) => id)),
  );
  const byEpisode = new Map(
    updates[0]!.rows.map((row) => [row.provenance.episodeId, row] as const),
  );
  for (const record of records) {
    const row = byEpisode.get(record.episode)!;
    const start = row.segments.find(({ kind }) => kind === "response")!.start;
    // The coin at weight 0.3 says yes with the probability 1 / (1 + exp(-0.3)); the reference is fair.
    const isYes = row.tokens[start] === "y".charCodeAt(0);
    expect(record.logprobs[0]).toBeCloseTo(-Math.log1p(Math.exp(isYes ? -0.3 : 0.3)), 5);
    expect(record.reference![0]).toBeCloseTo(Math.log(0.5), 5);
    expect(record.entropy).toBeNull();
    expect(record.mask.every((one) => one === 1)).toBe(true);
    expect(record.mask).toHaveLength(row.tokens.length - start);
    expect(record.advantages[0]).toBeCloseTo(row.advantages[start]!, 5);
    expect(record).toMatchObject({ step: 1, temperature: 1, weights: null });
  }
  expect(passes).toEqual(["current 8", "reference 8", "current 8", "reference 8"]);
});

it("keeps rows of whole tasks up to the limit, the same in every run, and nothing by default", async () => {
  const [one, two] = [await run({ "record.token_rows": 4 }), await run({ "record.token_rows": 4 })];
  const tasks = (runDir: string): string[] =>
    recordsOf(runDir, "000002").map(({ episode }) => episode.split("/")[1]!);
  expect(new Set(tasks(one.runDir)).size).toBe(1);
  expect(tasks(one.runDir)).toHaveLength(4);
  expect(tasks(two.runDir)).toEqual(tasks(one.runDir));
  expect(one.passes).toEqual(["current 4", "current 4"]);
  const off = await run({});
  expect(existsSync(join(off.runDir, "tokens"))).toBe(false);
  expect(off.passes).toEqual([]);
});

it("keeps the episodes of the same tasks, and those that failed, where record.episodes says so", async () => {
  const { runDir } = await run({ "record.token_rows": 4, "record.episodes": 4 });
  const ids = (name: string): unknown[] => readLines(runDir, "episodes", name).map(({ id }) => id);
  expect(ids("000001.jsonl")).toHaveLength(4);
  expect(new Set(ids("000001.jsonl"))).toEqual(
    new Set(recordsOf(runDir, "000001").map(({ episode }) => episode)),
  );
  const outputDir = newFolder();
  let calls = 0;
  const { trainer } = coinTrainer({
    outputDir,
    agentFlow: (task: Task, config: AgentConfig) => {
      const text = coinAgent(task, config);
      return ++calls === 3 ? text.then(() => Promise.reject(new Error("broken"))) : text;
    },
    set: { "trainer.total_batches": 1, "record.episodes": 0 },
  });
  await trainer.train();
  const kept = readLines(outputDir, "coin", "episodes", "000001.jsonl");
  expect(kept).toMatchObject([{ error: { message: "broken" } }]);
  expect(readLines(outputDir, "coin", "metrics.jsonl")[0]).toMatchObject({ "rollout/episodes": 8 });
});

it("shares its pass with rollout correction, and has its weights", async () => {
  const { runDir, passes } = await run({
    "record.token_rows": -1,
    "algorithm.rollout_correction": "token",
    "trainer.total_batches": 1,
  });
  expect(passes).toEqual(["current 8"]);
  expect(recordsOf(runDir, "000001")[0]!.weights).not.toBeNull();
});

it("is cut with the rest of the log when a run is resumed from an earlier step", async () => {
  const first = await run({ "record.token_rows": 4, "trainer.save_freq": 1 });
  rmSync(join(first.runDir, "checkpoints", "000002"), { recursive: true });
  writeFileSync(join(first.runDir, "tokens", "000007.jsonl"), "left over\n");
  await run(
    { "record.token_rows": 0, "trainer.save_freq": 1 },
    { resume: first.runDir, outputDir: first.outputDir },
  );
  expect(readdirSync(join(first.runDir, "tokens"))).toEqual(["000001.jsonl"]);
});

it("does not end the run where a pass fails, and says so once", async () => {
  let calls = 0;
  const { runDir, warnings, updates } = await run(
    { "record.token_rows": 4 },
    {
      backend: {
        entropies: () => {
          calls++;
          return Promise.reject(new Error("out of memory."));
        },
      },
    },
  );
  expect(calls).toBe(2);
  expect(updates).toHaveLength(2);
  const said = warnings.filter((message) => message.includes("record.token_rows"));
  expect(said).toHaveLength(1);
  expect(said[0]).toContain("out of memory");
  expect(existsSync(join(runDir, "tokens"))).toBe(false);
});

it("is refused by name with a backend that returns no log-probabilities", () => {
  expect(() => coinTrainer({ set: { "record.token_rows": 4 } })).toThrow(
    /does not support record\.token_rows=4/u,
  );
});
