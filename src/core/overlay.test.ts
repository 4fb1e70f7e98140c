import { describe, expect, it } from "vitest";
import { overlay } from "./overlay.ts";

interface Counter {
  readonly count: number;
  readonly label?: string;
  add(by: number): number;
  reset?(): void;
  twice?(): number;
}

class PrivateCounter implements Counter {
  #count = 0;
  get count(): number {
    return this.#count;
  }
  add(by: number): number {
    this.#count += by;
    return this.#count;
  }
  reset(): void {
    this.#count = 0;
  }
}

describe("an overlay", () => {
  it("reads what it does not change from the object itself, private fields and all", () => {
    const inner = new PrivateCounter();
    const over: Counter = overlay<Counter>(inner, { add: (by) => inner.add(2 * by) });
    const { reset } = over;
    expect(over.add(3)).toBe(6);
    expect(over.count).toBe(6);
    expect(over).toBeInstanceOf(PrivateCounter);
    expect(over.reset).toBe(reset);
    reset?.();
    expect([over.count, inner.count]).toEqual([0, 0]);
    expect("reset" in over).toBe(true);
  });
  it("leaves absent methods absent, though it would change them, and gives them once they are there", () => {
    const inner: { -readonly [K in keyof Counter]: Counter[K] } = { count: 1, add: (by) => by };
    const over: Counter = overlay<Counter>(inner, {
      label: "own",
      twice: () => 2 * inner.twice!(),
    });
    expect(over.twice).toBeUndefined();
    expect("twice" in over).toBe(false);
    expect(Object.keys(over)).toEqual(["count", "add", "label"]);
    inner.twice = () => 4;
    expect(over.twice?.()).toBe(8);
    expect(Object.keys(over).toSorted()).toEqual(["add", "count", "label", "twice"]);
  });
  it("evaluates getters of both sides each time, also of a frozen object, and can be spread", () => {
    let asked = 0;
    const inner = Object.freeze({
      get count() {
        return ++asked;
      },
      add: (by: number) => by,
    });
    const over = overlay<Counter>(inner, {
      get label() {
        return `asked ${asked}`;
      },
      add: (by) => by + 1,
    });
    expect([over.count, over.count, over.label]).toEqual([1, 2, "asked 2"]);
    expect(over.add(1)).toBe(2);
    const { add, ...rest } = over;
    expect(add(1)).toBe(2);
    expect(rest).toEqual({ count: 3, label: "asked 3" });
  });
});
