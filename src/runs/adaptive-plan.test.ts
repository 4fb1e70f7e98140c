/** Which tasks an adaptive plan takes, and that it continues from its state as if it had not been stopped. */
import { describe, expect, it } from "vitest";
import type { Task } from "../core/task.ts";
import type { TaskRollouts } from "../rollouts/task-rollouts.ts";
import { type AdaptivePlanOptions, createAdaptivePlan } from "./adaptive-plan.ts";
import { SolveRates } from "./solve-rates.ts";

const kinds = ["easy", "fair", "hard"] as const;
const rateOf = { easy: 1, fair: 0.5, hard: 0 };
const tasks: readonly Task[] = Array.from({ length: 60 }, (_, i) => ({
  id: `${i}`,
  instruction: `task ${i}`,
  metadata: { kind: kinds[i % 3] },
}));

const plain = {
  batchSize: 6,
  seed: 1,
  groupKey: null,
} as const;

/** Eight attempts at a task, solved as often as its kind is. */
function rollouts(task: Task): TaskRollouts {
  const solved = 8 * rateOf[task.metadata["kind"] as keyof typeof rateOf];
  const episodes = Array.from({ length: 8 }, (_, i) => ({
    ...{ task, isCorrect: i < solved, reward: i < solved ? 1 : 0, terminationReason: "done" },
  }));
  return { key: task.id, since: 0, episodes: episodes as never };
}

type Plan = ReturnType<typeof createAdaptivePlan>;

function run(plan: Plan, from: number, to: number): string[][] {
  return Array.from({ length: to - from + 1 }, (_, i) => {
    const batch = plan.batch(from + i);
    for (const task of batch) plan.adaptive.observe(rollouts(task));
    return batch.map(({ id }) => id);
  });
}

const shareOf = (batches: string[][], kind: string): number => {
  const all = batches.flat();
  return all.filter((id) => tasks[Number(id)]!.metadata["kind"] === kind).length / all.length;
};

describe("createAdaptivePlan", () => {
  it.each([
    [null, 0.8],
    ["kind", 0.95],
  ] as const)("with estimates of %s comes to take what is solved sometimes", (groupKey, least) => {
    const plan = createAdaptivePlan(tasks, { ...plain, groupKey });
    run(plan, 1, 20);
    expect(shareOf(run(plan, 21, 40), "fair")).toBeGreaterThan(least);
    const { "curriculum/informative_fraction": informative } = plan.adaptive.metrics();
    expect(informative).toBeGreaterThan(0.5);
  });

  it("takes no task twice in a batch, and every task before one is known", () => {
    const plan = createAdaptivePlan(tasks, plain);
    const batches = run(plan, 1, 30);
    for (const batch of batches) expect(new Set(batch).size).toBe(6);
    expect(createAdaptivePlan(tasks, { ...plain, batchSize: 100 }).batch(1)).toHaveLength(60);
    expect(plan.cursor(15)).toEqual({ epoch: 1, offset: 30 });
  });

  it("rolls tasks out again once what is known of them is old", () => {
    const plan = createAdaptivePlan(tasks, plain);
    run(plan, 1, 30);
    // Nothing is learned for a long time.
    const isKnown = (batch: number): number =>
      shareOf(
        Array.from({ length: 20 }, (_, i) => plan.batch(batch + i).map(({ id }) => id)),
        "fair",
      );
    expect(isKnown(31)).toBeGreaterThan(isKnown(300) + 0.2);
  });

  it("continues from its state, through JSON, as if it had not been stopped", () => {
    const whole = run(createAdaptivePlan(tasks, plain), 1, 12);
    const plan = createAdaptivePlan(tasks, plain);
    run(plan, 1, 6);
    const before = JSON.parse(JSON.stringify(plan.adaptive.snapshot([]))) as never;
    // What happens after the snapshot is not in it.
    run(plan, 7, 8);
    expect(run(createAdaptivePlan(tasks, { ...plain, before }), 7, 12)).toEqual(whole.slice(6));
  });

  it("keeps the tasks of batches that were begun", () => {
    const plan = createAdaptivePlan(tasks, plain);
    const begun = plan.batch(1);
    for (const task of begun.slice(0, 3)) plan.adaptive.observe(rollouts(task));
    const before = plan.adaptive.snapshot([1, 2]);
    expect(before.begun).toHaveLength(1);
    expect(createAdaptivePlan(tasks, { ...plain, before }).batch(1)).toEqual(begun);
    // Another size, or estimates of other groups, make other batches.
    const other: Partial<AdaptivePlanOptions> = { batchSize: 4, groupKey: "kind" };
    expect(createAdaptivePlan(tasks, { ...plain, ...other, before }).batch(1)).toHaveLength(4);
  });

  it("takes each place from its range", () => {
    const rangeAt = (place: number) =>
      place % 3 === 0 ? { first: 0, length: 5 } : { first: 5, length: 55 };
    const plan = createAdaptivePlan(tasks, { ...plain, rangeAt });
    for (const batch of run(plan, 1, 20))
      expect(batch.map((id) => Number(id) < 5)).toEqual([true, false, false, true, false, false]);
  });

  it("counts rewards from 0 to 1 as shares of an attempt where nothing says what is correct", () => {
    const [task] = tasks as [Task];
    const episode = { task, isCorrect: null, reward: 0.25, terminationReason: "done" };
    const plan = createAdaptivePlan(tasks, plain);
    plan.batch(1);
    const episodes = [episode, episode, episode, episode] as never;
    plan.adaptive.observe({ key: "", since: 0, episodes });
    expect(plan.adaptive.snapshot([]).evidence).toEqual([[0, 1, 3, 1]]);
    // Nothing was scored: nothing is known.
    const cut = { ...episode, reward: null, terminationReason: "aborted" };
    plan.adaptive.observe({ key: "", since: 0, episodes: [cut] as never });
    expect(plan.adaptive.snapshot([]).evidence).toHaveLength(1);
  });
});

it("halves the weight of evidence every 20 batches", () => {
  const rates = new SolveRates(2);
  rates.observe(0, 6, 8, 10);
  expect(rates.posterior(0, 10)).toEqual({ a: 7, b: 3 });
  expect(rates.posterior(0, 30)).toEqual({ a: 4, b: 2 });
  rates.observe(0, 0, 8, 30);
  expect(rates.posterior(0, 30)).toEqual({ a: 4, b: 10 });
  expect(rates.posterior(1, 30)).toEqual({ a: 1, b: 1 });
  expect(rates.metrics(30)).toMatchObject({
    "curriculum/seen_fraction": 0.5,
    "curriculum/solved_fraction": 4 / 14,
  });
});
