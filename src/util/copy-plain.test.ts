import { describe, expect, it } from "vitest";
import { copyPlain } from "./copy-plain.ts";

class Money {
  readonly amount: number;
  constructor(amount: number) {
    this.amount = amount;
  }
}

describe("copyPlain", () => {
  it("copies plain data, so that nothing done to the copy reaches the original", () => {
    const original = {
      list: [1, { deep: [2] }],
      map: new Map([["k", { v: 1 }]]),
      set: new Set([{ s: 1 }]),
      date: new Date(5),
      bytes: Uint8Array.of(1, 2),
      view: Buffer.from("ab"),
      none: null,
      gone: undefined,
      bare: Object.assign(Object.create(null) as object, { x: 1 }),
      [Symbol.for("s")]: { y: 1 },
    };
    const before = structuredClone({ ...original, view: [...original.view] });
    const copy = copyPlain(original);
    expect(copy).toEqual(original);
    expect(Object.getPrototypeOf(copy.bare)).toBe(null);
    (copy.list[1] as { deep: number[] }).deep.push(9);
    copy.map.get("k")!.v = 9;
    copy.set.clear();
    copy.date.setTime(0);
    copy.bytes[0] = 9;
    copy.view[0] = 9;
    (copy as Record<symbol, { y: number }>)[Symbol.for("s")]!.y = 9;
    expect(structuredClone({ ...original, view: [...original.view] })).toEqual(before);
    expect((original as Record<symbol, { y: number }>)[Symbol.for("s")]?.y).toBe(1);
  });

  it("keeps cycles and shared parts", () => {
    const shared = { n: 1 };
    const original: Record<string, unknown> = { a: shared, b: shared };
    original["self"] = original;
    const copy = copyPlain(original);
    expect(copy["self"]).toBe(copy);
    expect(copy["a"]).toBe(copy["b"]);
    expect(copy["a"]).not.toBe(shared);
  });

  it("gives what is no plain data as it is: functions, and objects of classes", () => {
    const grade = (): number => 1;
    const original = { grade, price: new Money(3), pattern: /x/u, big: 3n };
    const copy = copyPlain(original);
    expect(copy.grade).toBe(grade);
    expect(copy.price).toBe(original.price);
    expect(copy.price).toBeInstanceOf(Money);
    expect(copy.pattern).toBe(original.pattern);
    expect(copy.big).toBe(3n);
  });

  it("gives what cannot be walked through as it is", () => {
    const trap = new Proxy(
      {},
      {
        ownKeys() {
          throw new Error("no");
        },
      },
    );
    expect(copyPlain(trap)).toBe(trap);
    let deep: unknown = 0;
    for (let i = 0; i < 100_000; i++) deep = [deep];
    expect(copyPlain(deep)).toBe(deep);
  });

  it("gives a frozen original as something that its owner may change, and reads no getters", () => {
    let reads = 0;
    const original = Object.freeze({
      a: 1,
      get b() {
        reads++;
        return 2;
      },
    });
    const copy = copyPlain(original) as { a: number; b: number };
    copy.a = 5;
    expect([copy.a, original.a, reads]).toEqual([5, 1, 0]);
    expect(copy.b).toBe(2);
  });
});
