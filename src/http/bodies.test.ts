import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { ByteBudget, readBytes } from "./bodies.ts";

const { signal } = new AbortController();

describe("ByteBudget", () => {
  it("always has room for one, and for others up to its limit", () => {
    const budget = new ByteBudget(10);
    expect([budget.take(20), budget.take(1)]).toEqual([true, false]);
    budget.give(20);
    expect([budget.take(6), budget.take(4), budget.take(1)]).toEqual([true, true, false]);
    expect(budget.held).toBe(10);
  });

  it("lets those in that wait, in order and together where they fit", async () => {
    const budget = new ByteBudget(10);
    budget.take(10);
    const order: string[] = [];
    const waiting = [
      ["a", 6],
      ["b", 4],
      ["c", 1],
    ] as const;
    const all = waiting.map(async ([name, bytes]) => {
      expect(await budget.takeLater(bytes, 60_000, signal)).toBe(true);
      order.push(name);
    });
    budget.give(10);
    await sleep(5);
    expect([order, budget.held]).toEqual([["a", "b"], 10]);
    budget.give(4);
    await Promise.all(all);
    expect([order, budget.held]).toEqual([["a", "b", "c"], 7]);
  });

  it("ends a wait with its time or its signal, and lets in who is behind it", async () => {
    const budget = new ByteBudget(10);
    budget.take(5);
    const abort = new AbortController();
    const late = budget.takeLater(8, 20, signal);
    const gone = budget.takeLater(8, 60_000, abort.signal);
    const fits = budget.takeLater(5, 60_000, signal);
    expect(await late).toBe(false);
    abort.abort();
    expect(await Promise.all([gone, fits])).toEqual([false, true]);
    expect(budget.held).toBe(10);
  });
});

describe("readBytes", () => {
  const bodyOf = (...parts: readonly string[]): ReadableStream<Uint8Array> =>
    new Blob([...parts]).stream();

  it("keeps a body up to its limit", async () => {
    let counted = 0;
    const count = (bytes: number): void => void (counted += bytes);
    const whole = await readBytes(bodyOf("abc", "de"), { maxBytes: 5, count });
    expect([whole.isTooLarge, whole.bytes.toString(), counted]).toEqual([false, "abcde", 5]);
  });

  it("keeps the ends of one that is too large, and reads on for a while", async () => {
    let pulled = 0;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(100_000).fill(++pulled)),
    });
    const limit = { maxBytes: 150_000, drainBytes: 450_000, count: () => undefined };
    const { isTooLarge, bytes } = await readBytes(body, limit);
    expect([isTooLarge, bytes.length, bytes[0], bytes.at(-1)]).toEqual([true, 131_072, 1, 5]);
  });

  it("stops reading where counting refuses", async () => {
    const full = new Error("full");
    const count = (): void => {
      throw full;
    };
    await expect(readBytes(bodyOf("abc"), { maxBytes: 5, count })).rejects.toBe(full);
  });
});
