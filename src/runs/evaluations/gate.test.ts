import { expect, it } from "vitest";
import { compareEvaluations } from "./compare.ts";
import type { EvaluationItem } from "./evaluation-item.ts";
import { gateEvaluations } from "./gate.ts";

const item = (id: string, reward: number | null, more: Partial<EvaluationItem> = {}) =>
  ({
    id,
    attempt: 1,
    episodeId: `eval/${id}/1`,
    dataSource: null,
    reward,
    isCorrect: reward !== null && reward >= 1,
    signals: {},
    terminationReason: reward === null ? "aborted" : "completed",
    usage: { calls: 1, promptTokens: 10, responseTokens: 10 },
    latencyMs: 100,
    metrics: {},
    ...more,
  }) as EvaluationItem;

const made = (
  rewards: readonly (number | null)[],
  more: (i: number) => Partial<EvaluationItem> = () => ({}),
) => ({
  items: rewards.map((reward, i) => item(`t${i}`, reward, more(i))),
  summary: { failureReward: 0 },
});

const rewards = (count: number, solved: number): number[] =>
  Array.from({ length: count }, (_, i) => (i < solved ? 1 : 0));

const rulesOf = ({ misses }: { misses: readonly { rule: string }[] }): string[] =>
  misses.map(({ rule }) => rule);

it("passes a gain whose whole interval lies above the limit, and says by how much another missed", () => {
  const [current, candidate] = [made(rewards(20, 5)), made(rewards(20, 15))];
  const { reward } = compareEvaluations(current, candidate);
  const passed = gateEvaluations({ current, candidate });
  expect(passed).toMatchObject({ verdict: "better", misses: [], heldOut: { tasks: 20, reward } });
  expect(passed.gained).toHaveLength(10);
  const strict = gateEvaluations({ current, candidate }, { minGain: 0.4 });
  expect(strict.verdict).toBe("not better");
  expect(strict.misses[0]).toMatchObject({ rule: "gain" });
  expect(strict.misses[0]?.missedBy).toBeCloseTo(0.4 - reward!.low!, 12);
});

it("refuses equal models, unless a loss is allowed", () => {
  const pair = { current: made(rewards(10, 5)), candidate: made(rewards(10, 5)) };
  expect(gateEvaluations(pair)).toMatchObject({ verdict: "not better", gained: [] });
  expect(gateEvaluations(pair, { minGain: -0.01 }).verdict).toBe("better");
});

it("refuses a gain over fewer tasks than have an interval", () => {
  const report = gateEvaluations({ current: made([0, 0, 0]), candidate: made([1, 1, 1]) });
  expect(report.misses).toEqual([
    { rule: "gain", message: expect.stringContaining("too few"), missedBy: null },
  ]);
});

it("refuses a slice that lost more than allowed, where it has enough tasks", () => {
  const slice = (size: number) => (i: number) => ({ dataSource: i < size ? "small" : "large" });
  const before = [...rewards(6, 6), ...rewards(40, 0)];
  const after = [...rewards(6, 3), ...rewards(40, 40)];
  const pair = { current: made(before, slice(6)), candidate: made(after, slice(6)) };
  const report = gateEvaluations(pair);
  expect(report.misses).toEqual([
    { rule: "slice", message: expect.stringContaining("data_source=small"), missedBy: 0.45 },
  ]);
  expect(report.slices.map(({ value, tasks }) => [value, tasks])).toEqual([
    ["small", 6],
    ["large", 40],
  ]);
  expect(gateEvaluations(pair, { maxSliceLoss: 0.5 }).verdict).toBe("better");
  expect(gateEvaluations(pair, { minSliceTasks: 7 }).verdict).toBe("better");
});

it("refuses regression tasks that are lost or were left out, not those that neither side solves", () => {
  const pair = { current: made(rewards(20, 0)), candidate: made(rewards(20, 20)) };
  const set = (before: number[], after: (number | null)[], ids?: string[]) => ({
    ...pair,
    regressions: { current: made(before), candidate: made(after), ...(ids && { ids }) },
  });
  expect(gateEvaluations(set([1, 1, 0], [1, 1, 0])).regressions).toEqual({
    tasks: 3,
    solved: 2,
    lost: [],
  });
  const lost = gateEvaluations(set([1, 1, 0], [1, 0, 1]));
  expect(lost.misses).toMatchObject([{ rule: "regressions", missedBy: 1 }]);
  expect(lost.regressions?.lost).toEqual(["t1"]);
  expect(gateEvaluations(set([1, 1], [1, 0]), { maxRegressions: 1 }).verdict).toBe("better");
  expect(rulesOf(gateEvaluations(set([1], [1], ["t0", "t9"])))).toEqual(["coverage"]);
  expect(rulesOf(gateEvaluations(set([1], [null])))).toEqual(["coverage", "regressions"]);
});

it("refuses a candidate that was measured on a part of the tasks", () => {
  const current = made(rewards(20, 2));
  const report = gateEvaluations({ current, candidate: made(rewards(15, 15)) });
  expect(report.misses).toMatchObject([{ rule: "coverage", missedBy: 5 }]);
});

it("limits cost and latency as multiples of the model in use", () => {
  const usage = { calls: 2, promptTokens: 10, responseTokens: 40 };
  const pair = {
    current: made(rewards(20, 0)),
    candidate: made(rewards(20, 20), () => ({ usage, latencyMs: 150 })),
  };
  const report = gateEvaluations(pair, { maxCost: 2, maxLatency: 1.2 });
  expect([report.cost.ratio, report.latency.ratio]).toEqual([2.5, 1.5]);
  expect(report.misses.map(({ rule, missedBy }) => [rule, Number(missedBy?.toFixed(9))])).toEqual([
    ["cost", 0.5],
    ["latency", 0.3],
  ]);
  const prices = { prompt: 1, sampled: 0 };
  expect(gateEvaluations(pair, { maxCost: 1, prices }).verdict).toBe("better");
});

it.each([
  ["minGain", { minGain: Number.NaN }],
  ["maxSliceLoss", { maxSliceLoss: -0.1 }],
  ["minSliceTasks", { minSliceTasks: 0 }],
  ["maxRegressions", { maxRegressions: 0.5 }],
  ["maxCost", { maxCost: 0 }],
  ["maxLatency", { maxLatency: -1 }],
  ["prices", { prices: { prompt: 0, sampled: 0 } }],
])("refuses a rule that cannot be: %s", (name, rule) => {
  const pair = { current: made([1]), candidate: made([1]) };
  expect(() => gateEvaluations(pair, rule)).toThrow(name);
});
