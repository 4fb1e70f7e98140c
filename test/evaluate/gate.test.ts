import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Task } from "../../src/core/task.ts";
import { evaluate } from "../../src/launch/evaluate/evaluate.ts";
import { gate } from "../../src/launch/evaluate/gate.ts";
import { gateFolders } from "../../src/runs/evaluations/gate-folders.ts";
import { addRegressions, readRegressions } from "../../src/runs/evaluations/regression-set.ts";
import { createScriptedTarget } from "../../src/testing/index.ts";
import { coinAgent, coinEvaluator, newFolder } from "../trainer/coin-run.ts";

const dataset: readonly Task[] = Array.from({ length: 12 }, (_, i) => ({
  id: `t${i}`,
  instruction: `Question ${i}. Yes or no?`,
  metadata: { language: i % 2 === 0 ? "de" : "en" },
}));
/** Solves the tasks below a number. */
const solver = (below: number) =>
  createScriptedTarget(({ text }) =>
    Number(/Question (\d+)\./u.exec(text)?.[1]) < below ? "yes" : "no",
  );
const coin = { agentFlow: coinAgent, evaluator: coinEvaluator, dataset } as const;
const old: Task = { id: "old", instruction: "Question 1. Yes or no?", metadata: {} };

describe("gate", () => {
  it("evaluates both, grows the regression set, and writes its report", async () => {
    const folder = newFolder();
    const regressions = join(folder, "regressions.jsonl");
    addRegressions(regressions, [old]);
    const result = await gate({
      ...coin,
      current: solver(2),
      candidate: solver(12),
      folder: join(folder, "gate"),
      regressions,
      grow: true,
      rule: { slices: ["language"] },
    });
    expect(result).toMatchObject({
      verdict: "better",
      heldOut: { tasks: 12, reward: { a: 2 / 12, b: 1 } },
      regressions: { tasks: 1, solved: 1, lost: [] },
      grown: 10,
    });
    expect(result.slices.map(({ value, tasks }) => [value, tasks])).toEqual([
      ["de", 6],
      ["en", 6],
    ]);
    expect(readRegressions(regressions).map(({ id }) => id)).toEqual([
      "old",
      ...dataset.slice(2).map(({ id }) => id),
    ]);
    expect(JSON.parse(readFileSync(join(folder, "gate", "gate.json"), "utf8"))).toEqual(result);
  });

  it("does not grow the set by a candidate that it refuses", async () => {
    const folder = newFolder();
    const regressions = join(folder, "regressions.jsonl");
    addRegressions(regressions, [old]);
    const result = await gate({
      ...coin,
      current: solver(12),
      candidate: solver(0),
      folder: join(folder, "gate"),
      regressions,
      grow: true,
    });
    expect(result.misses.map(({ rule }) => rule)).toEqual(["gain", "regressions"]);
    expect(result.grown).toBe(0);
    expect(readRegressions(regressions)).toHaveLength(1);
  });

  it("takes recorded evaluations, and says which evaluation is missing", async () => {
    const folder = newFolder();
    const [current, candidate] = [join(folder, "a"), join(folder, "b")];
    await evaluate({ ...coin, model: solver(2), folder: current });
    const result = await gate({ ...coin, current, candidate: solver(12), folder: candidate });
    expect(result.verdict).toBe("better");
    const pair = { current, candidate: join(candidate, "candidate") };
    const { slices, ...again } = gateFolders(pair);
    expect({ slices, ...again }).toEqual(result);
    const regressions = join(folder, "set.jsonl");
    expect(() => gateFolders({ ...pair, regressions })).toThrow("does not exist");
    expect(() => gateFolders({ ...pair, grow: true })).toThrow("none is named");
    writeFileSync(regressions, `${JSON.stringify(old)}\n`);
    expect(() => gateFolders({ ...pair, regressions })).toThrow(join("a", "regressions"));
    expect(() => gateFolders(pair, { slices: ["level"] })).toThrow('"level"');
    expect(existsSync(`${regressions}.receipt.json`)).toBe(true);
  });
});
