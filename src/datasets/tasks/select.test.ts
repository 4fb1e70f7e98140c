import { describe, expect, it } from "vitest";
import type { Task } from "../../core/task.ts";
import { select, splitDataset } from "./select.ts";

const tasks = (count: number): Task[] =>
  Array.from({ length: count }, (_, i) => ({ id: String(i), instruction: `${i}`, metadata: {} }));
const ids = (dataset: Iterable<Task>): number[] => Array.from(dataset, ({ id }) => Number(id));
const inOrder = (numbers: readonly number[]): number[] => numbers.toSorted((a, b) => a - b);

describe("select", () => {
  it("without options is the dataset itself", () => {
    const dataset = tasks(3);
    expect(select(dataset, {})).toBe(dataset);
  });
  it("shuffles by the seed: the same tasks in another order, the same for the same seed", () => {
    const [one, again, other] = [1, 1, 2].map((seed) =>
      ids(select(tasks(50), { shuffle: true, seed })),
    );
    expect(again).toEqual(one);
    expect(other).not.toEqual(one);
    expect(one).not.toEqual(ids(tasks(50)));
    expect(inOrder(one!)).toEqual(ids(tasks(50)));
  });
  it("has every task in exactly one shard, also after shuffling", () => {
    expect(ids(select(tasks(7), { shard: { index: 1, count: 3 } }))).toEqual([1, 4]);
    const shards = [0, 1, 2].flatMap((index) =>
      ids(select(tasks(20), { shuffle: true, seed: 5, shard: { index, count: 3 } })),
    );
    expect(inOrder(shards)).toEqual(ids(tasks(20)));
    expect(() => select(tasks(2), { shard: { index: 3, count: 3 } })).toThrow("no shard 3 of 3");
  });
  it("limits what the shard left", () => {
    expect(ids(select(tasks(9), { shard: { index: 0, count: 2 }, limit: 2 }))).toEqual([0, 2]);
    expect(ids(select(tasks(2), { limit: 5 }))).toEqual([0, 1]);
  });
});

describe("splitDataset", () => {
  it.each([
    [10, 0.3, 3],
    [10, 0.01, 1],
    [10, 0.99, 9],
    [7, 0.5, 4],
  ])("holds out a fraction: of %d tasks at %d, %d", (count, fraction, held) => {
    const { train, val } = splitDataset(tasks(count), fraction, 3);
    expect(val).toHaveLength(held);
    expect(inOrder([...ids(train), ...ids(val)])).toEqual(ids(tasks(count)));
    expect(ids(train)).toEqual(inOrder(ids(train)));
    expect(ids(splitDataset(tasks(count), fraction, 3).val)).toEqual(ids(val));
  });
  it("is another one for another seed", () => {
    const [a, b] = [1, 2].map((seed) => ids(splitDataset(tasks(40), 0.5, seed).val));
    expect(a).not.toEqual(b);
  });
  it.each([0, 1, -1, Number.NaN])("refuses the fraction %d", (fraction) => {
    expect(() => splitDataset(tasks(9), fraction)).toThrow("cannot be split");
  });
});
