import { expect, it } from "vitest";
import { DigestSet } from "./digest-set.ts";

it("is a set of any number of texts", () => {
  const set = new DigestSet();
  for (let i = 0; i < 20_000; i++) {
    const text = `text ${i % 15_000}`;
    expect(set.has(text)).toBe(i >= 15_000);
    expect(set.add(text)).toBe(i < 15_000);
  }
  expect(set.size).toBe(15_000);
});
