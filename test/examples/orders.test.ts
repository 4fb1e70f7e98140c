/** The reward of `examples/real-model/`, on answers that the model gives while it learns. */
import { describe, expect, it } from "vitest";
import type { Episode } from "../../src/core/trajectory.ts";
import { evaluator, trainTasks, valTasks } from "../../examples/real-model/orders.ts";

const task = valTasks.find(({ id }) => id === "val-poster")!;
const score = (output: string): number => evaluator(task, { output } as unknown as Episode).reward;

describe("orders", () => {
  it("asks for 5 posters, and validates with items that are not trained", () => {
    expect(task.metadata).toEqual({ item: "poster", count: 5 });
    const trained = new Set(trainTasks.map(({ metadata }) => metadata.item));
    expect(valTasks.filter(({ metadata }) => trained.has(metadata.item))).toEqual([]);
    expect(new Set([...trainTasks, ...valTasks].map(({ id }) => id)).size).toBe(
      trainTasks.length + valTasks.length,
    );
  });

  it.each([
    ["five posters", 0],
    ['{"item": "poster", "count": 5}', 1],
    ['{\n  "count": 5,\n  "item": "poster"\n}\n', 1],
    ['{"item": "posters", "count": 5}', 0.65],
    ['{"item": "poster", "count": "5"}', 0.65],
    ['Sure! {"item": "poster", "count": 5}', 0.9],
    ['```json\n{"item": "poster", "count": 5}\n```', 0.9],
    ['{"item": "poster", "count": 5, "price": 1}', 0.9],
    ['{"item": "poster", "count": 5,}', 0],
    // Earned the count once, when the reward looked at inner objects.
    ['{"item": {"count": 5}}', 0.2],
    ['[{"item": "poster", "count": 5}]', 0.9],
  ])("%j is worth %d", (output, worth) => {
    expect(score(output)).toBeCloseTo(worth, 6);
  });
});
