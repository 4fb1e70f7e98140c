import { describe, expect, it } from "vitest";
import { createBatchPlan, stepsForEpochs } from "./batches.ts";

const tasks = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

describe("createBatchPlan", () => {
  it("brings tasks of a smaller rank earlier in each epoch, equal ones in any order", () => {
    const names = ["c1", "a1", "b1", "a2", "c2", "b2"];
    const plan = createBatchPlan(names, {
      batchSize: 2,
      seed: 5,
      rank: (name) => name.charCodeAt(0),
    });
    const epochs = [1, 4, 7, 10].map((step) =>
      [0, 1, 2].map((i) => plan.batch(step + i).map((name) => name[0])),
    );
    for (const epoch of epochs)
      expect(epoch).toEqual([
        ["a", "a"],
        ["b", "b"],
        ["c", "c"],
      ]);
    const orders = new Set([1, 4, 7, 10, 13, 16].map((step) => plan.batch(step).join()));
    expect(orders.size).toBe(2);
  });

  it.each([
    [10, 4],
    [5, 2],
    [7, 7],
    [7, 6],
    [3, 2],
    [1, 1],
    [9, 3],
  ])("%i tasks in batches of %i: full batches, no task twice, every epoch complete", (n, size) => {
    const plan = createBatchPlan(tasks(n), { batchSize: size, seed: 3 });
    const flat: number[] = [];
    for (let step = 1; step <= 4 * n; step++) {
      const batch = plan.batch(step);
      expect(batch).toHaveLength(size);
      expect(new Set(batch).size).toBe(size);
      flat.push(...batch);
    }
    for (let epoch = 0; (epoch + 1) * n <= flat.length; epoch++) {
      expect(flat.slice(epoch * n, (epoch + 1) * n).sort((a, b) => a - b)).toEqual(tasks(n));
    }
  });
  it.each([2, 3, 4, 7])("takes the rest of an epoch in another order, batches of %i", (size) => {
    const names = tasks(7);
    const [earlier, later] = [{ seed: 1 }, { seed: 2, rank: (task: number) => -task }];
    const first = createBatchPlan(names, { batchSize: size, ...earlier });
    for (let changed = 0; changed <= 8; changed++) {
      const parts = [{ ...earlier, until: changed * size }];
      const plan = createBatchPlan(names, { batchSize: size, ...later, earlier: parts });
      const steps = Array.from({ length: 28 }, (_, i) => i + 1);
      for (const step of steps) expect(new Set(plan.batch(step)).size).toBe(size);
      for (const step of steps.slice(0, changed))
        expect(plan.batch(step)).toEqual(first.batch(step));
      const flat = steps.flatMap((step) => plan.batch(step));
      for (let epoch = 0; epoch < 4 * size; epoch++)
        expect(flat.slice(epoch * 7, epoch * 7 + 7).toSorted()).toEqual(names);
      // What is left of the epoch that was begun is sorted.
      const begun = changed * size;
      const left = flat.slice(begun, Math.ceil(begun / 7) * 7);
      expect(left).toEqual(left.toSorted((a, b) => b - a));
    }
  });

  it("shuffles every epoch anew, and by the seed", () => {
    const order = (seed: number, step: number): string =>
      createBatchPlan(tasks(20), { batchSize: 20, seed }).batch(step).join();
    expect(order(1, 1)).toBe(order(1, 1));
    expect(order(1, 1)).not.toBe(order(1, 2));
    expect(order(1, 1)).not.toBe(order(2, 1));
    expect(order(1, 1)).not.toBe(tasks(20).join());
  });
  it("gives a step the same tasks whatever was asked before", () => {
    const plan = createBatchPlan(tasks(7), { batchSize: 3, seed: 0 });
    const all = [1, 2, 3, 4, 5, 6].map((step) => plan.batch(step));
    expect(createBatchPlan(tasks(7), { batchSize: 3, seed: 0 }).batch(6)).toEqual(all[5]);
  });
  it("uses the whole data set when it is smaller than a batch", () => {
    const plan = createBatchPlan(tasks(3), { batchSize: 16, seed: 0 });
    expect(plan.batchSize).toBe(3);
    expect(plan.batch(5).toSorted()).toEqual([0, 1, 2]);
  });
  it("says where the next batch begins", () => {
    const plan = createBatchPlan(tasks(5), { batchSize: 2, seed: 0 });
    expect([0, 2, 3, 5].map((step) => plan.cursor(step))).toEqual([
      { epoch: 0, offset: 0 },
      { epoch: 0, offset: 4 },
      { epoch: 1, offset: 1 },
      { epoch: 2, offset: 0 },
    ]);
  });
});

describe("stepsForEpochs", () => {
  it.each([
    [10, 4, 1, 3],
    [10, 4, 2, 5],
    [3, 16, 4, 4],
    [16, 16, 2, 2],
  ])("%i tasks, batch %i, %i epochs: %i steps", (n, size, epochs, steps) => {
    expect(stepsForEpochs(n, size, epochs)).toBe(steps);
  });
});
