import { describe, expect, it } from "vitest";
import type { Task } from "../core/task.ts";
import { MixedTasks } from "../datasets/tasks/mixed-tasks.ts";
import { createMixturePlan, SourceOrder } from "./mixture-plan.ts";

const tasksOf = (name: string, count: number): Task[] =>
  Array.from({ length: count }, (_, i) => ({ id: `${i}`, instruction: `${name} ${i}`, metadata: {} }));

const mixed = (sources: Readonly<Record<string, readonly [weight: number, tasks: number]>>) =>
  new MixedTasks(
    Object.entries(sources).map(([name, [weight, count]]) => ({
      name,
      weight,
      tasks: tasksOf(name, count),
    })),
  );

const countOf = (batch: readonly Task[], name: string): number =>
  batch.filter(({ metadata }) => metadata["data_source"] === name).length;

describe("SourceOrder", () => {
  it.each([[[1, 1]], [[3, 1]], [[1, 2, 4]], [[0.1, 0.2, 0.7]], [[5, 5, 1, 1, 1]], [[1, 99]], [[7]]])(
    "keeps every source within less than one task of its share: %j",
    (weights) => {
      const sum = weights.reduce((a, b) => a + b, 0);
      const bound = weights.length === 1 ? 0 : 1 - 1 / (2 * weights.length - 2);
      const order = new SourceOrder(weights);
      const counts = weights.map(() => 0);
      for (let place = 0; place < 2_000; place++) {
        const { source, before } = order.at(place);
        expect(before).toBe(counts[source]);
        counts[source]!++;
        for (const [i, weight] of weights.entries()) {
          const gap = Math.abs(counts[i]! - ((place + 1) * weight) / sum);
          expect(gap).toBeLessThanOrEqual(bound + 1e-6);
        }
      }
    },
  );
});

describe("createMixturePlan", () => {
  const tasks = mixed({ math: [3, 7], shop: [1, 5] });
  const plan = createMixturePlan(tasks, { batchSize: 8, seed: 1 });

  it("has exact quotas in every batch, and no task twice in one", () => {
    for (let step = 1; step <= 40; step++) {
      const batch = plan.batch(step);
      expect([countOf(batch, "math"), countOf(batch, "shop")]).toEqual([6, 2]);
      expect(new Set(batch.map(({ id }) => id)).size).toBe(8);
    }
  });

  it("covers each source evenly: all of its tasks before one comes again", () => {
    const seen = Array.from({ length: 7 }, (_, i) => plan.batch(i + 1))
      .flat()
      .filter(({ metadata }) => metadata["data_source"] === "math");
    for (let epoch = 0; epoch < 6; epoch++) {
      const ids = seen.slice(epoch * 7, (epoch + 1) * 7).map(({ id }) => id);
      expect(new Set(ids).size).toBe(7);
    }
  });

  it("is a function of the seed and the step", () => {
    const again = createMixturePlan(tasks, { batchSize: 8, seed: 1 });
    expect(again.batch(17)).toEqual(plan.batch(17));
    const other = createMixturePlan(tasks, { batchSize: 8, seed: 2 });
    expect(other.batch(17)).not.toEqual(plan.batch(17));
  });

  it("has no task twice where shares are no whole numbers either", () => {
    const odd = mixed({ a: [1, 4], b: [1, 4], c: [1.5, 5] });
    const batches = createMixturePlan(odd, { batchSize: 5, seed: 3 });
    for (let step = 1; step <= 60; step++)
      expect(new Set(batches.batch(step).map(({ id }) => id)).size).toBe(5);
  });

  it("takes tasks of a source by their rank", () => {
    const rank = ({ id }: Task): number => Number(id);
    const sorted = createMixturePlan(tasks, { batchSize: 4, seed: 1, rank });
    const first = [1, 2].flatMap((step) => sorted.batch(step)).map(({ id }) => id);
    const math = first.filter((id) => id.startsWith("math"));
    expect(math).toEqual(["0", "1", "2", "3", "4", "5"].map((id) => `math/${id}`));
  });

  it("refuses a source that is smaller than its quota", () => {
    const small = mixed({ math: [3, 5], shop: [1, 5] });
    expect(() => createMixturePlan(small, { batchSize: 8, seed: 1 })).toThrow(
      "The source math of dataset.sources has 5 tasks, but a batch of 8 may take 6 of it.",
    );
  });
});
