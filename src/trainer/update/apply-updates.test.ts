import { describe, expect, it } from "vitest";
import type { TrainingRow } from "../../core/loss/training-row.ts";
import { miniBatches } from "./apply-updates.ts";

const rows = Array.from({ length: 10 }, (_, i) => ({
  tokens: Int32Array.of(i),
})) as unknown as TrainingRow[];
const ids = (part: readonly TrainingRow[]): number[] => part.map((row) => row.tokens[0] as number);

describe("miniBatches", () => {
  it("leaves rows as they are when there is one part", () => {
    expect(miniBatches(rows, { parts: 1, epochs: 2, seed: 3 })).toEqual([rows, rows]);
  });

  it("deals every row once per pass, in parts of nearly equal size", () => {
    const parts = miniBatches(rows, { parts: 4, epochs: 3, seed: 3 });
    expect(parts).toHaveLength(12);
    const passes = [0, 1, 2].map((epoch) => parts.slice(4 * epoch, 4 * epoch + 4));
    for (const pass of passes) {
      expect(pass.flatMap(ids).sort((a, b) => a - b)).toEqual([...rows.keys()]);
      expect(pass.every((part) => part.length === 2 || part.length === 3)).toBe(true);
    }
    expect(new Set(passes.map((pass) => pass.flatMap(ids).join())).size).toBe(3);
  });

  it("is a function of the seed", () => {
    const deal = (seed: number): number[][] =>
      miniBatches(rows, { parts: 3, epochs: 2, seed }).map(ids);
    expect(deal(1)).toEqual(deal(1));
    expect(deal(1)).not.toEqual(deal(2));
  });

  it("has no empty part", () => {
    expect(miniBatches(rows.slice(0, 2), { parts: 5, epochs: 1, seed: 0 })).toHaveLength(2);
    expect(miniBatches([], { parts: 5, epochs: 2, seed: 0 })).toEqual([]);
  });
});
