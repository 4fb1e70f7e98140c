/** An evaluator against thumbs, as `improve` compares them before it trains. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Evaluator } from "../../src/core/agent.ts";
import { compareWithThumbs } from "../../src/launch/evaluate/agreement/thumbs.ts";

const folder = mkdtempSync(join(tmpdir(), "agreement-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** 40 answers; of every five good ones one has a bad thumb. */
beforeAll(() => {
  const rows = Array.from({ length: 40 }, (_, i) => ({
    prompt: [{ role: "user", content: `question ${i}` }],
    completion: [{ role: "assistant", content: i % 2 === 0 ? "good answer" : "bad answer" }],
    label: i % 2 === 0 && i % 10 !== 0,
  }));
  writeFileSync(
    join(folder, "feedback.jsonl"),
    rows.map((row) => `${JSON.stringify(row)}\n`).join(""),
  );
});

const compare = (evaluator: Evaluator, sample = 100, from = folder) =>
  compareWithThumbs({
    ...{ folder: from, evaluator, sample, seed: 0, concurrency: 8, timeoutMs: 1000, good: 0.5 },
    signal: new AbortController().signal,
  });

const judge: Evaluator = (task, { output }) => {
  if (task.instruction.endsWith(" 7")) throw new Error("odd");
  return String(output).startsWith("good");
};

it("compares an evaluator with thumbs", async () => {
  const found = await compare(judge);
  // 16 good both, 4 only the reward, 20 bad both of which one failed.
  expect(found).toMatchObject({ n: 39, failed: 1, bothGood: 16, rewardOnly: 4, bothBad: 19 });
  const chance = (20 / 39) * (16 / 39) + (19 / 39) * (23 / 39);
  expect(found).toMatchObject({
    thumbOnly: 0,
    accuracy: 35 / 39,
    kappa: expect.closeTo((35 / 39 - chance) / (1 - chance), 12) as number,
    error: expect.stringContaining("odd") as string,
  });
});

it("chooses the same answers for the same seed", async () => {
  const scored: string[] = [];
  const watched: Evaluator = ({ instruction }) => scored.push(instruction) > 0;
  expect(await compare(watched, 10)).toMatchObject({ n: 10, failed: 0 });
  await compare(watched, 10);
  expect(scored.slice(10)).toEqual(scored.slice(0, 10));
  expect(new Set(scored).size).toBe(10);
});

it("needs rated answers", async () => {
  const empty = mkdtempSync(join(tmpdir(), "agreement-"));
  writeFileSync(join(empty, "feedback.jsonl"), "\n");
  await expect(compare(judge, 10, empty)).rejects.toThrow("has no rated answers");
  rmSync(empty, { recursive: true });
});
