import { describe, expect, it } from "vitest";
import type { Task } from "../../core/task.ts";
import { createRandom, deriveSeed } from "../../util/random.ts";
import { NearIndex, nearThreshold } from "./near-index.ts";
import { findDuplicates, findLeaks, withoutDuplicates } from "./overlap.ts";
import { jaccard, shinglesOf } from "./shingles.ts";

const tasks = (...instructions: readonly string[]): Task[] =>
  instructions.map((instruction, i) => ({ id: `t${i}`, instruction, metadata: { id: i } }));

const long =
  "A train leaves the old station at noon and drives to the sea through nine long tunnels, how many bridges does it pass on its way there";

describe("findDuplicates", () => {
  it.each<[string, string, string, "exact" | "near" | null]>([
    ["case and white space", "What  is\n2 + 2?", "what is 2 + 2?", "exact"],
    ["full-width letters", "Ａｄｄ 2", "add 2", "exact"],
    ["another operator", "What is 2 + 2?", "What is 2 - 2?", null],
    ["one word of many", long, long.replace("noon", "dawn"), "near"],
    ["another number", `${long} in 3 hours`, `${long} in 4 hours`, null],
    ["something else", long, "Sort this list of words by their length", null],
    [
      "text without spaces",
      "東京から大阪まで新幹線で行くのに何時間かかりますか教えてください",
      "東京から大阪まで新幹線で行くのに何時間かかりますか教えて下さい",
      "near",
    ],
    ["nothing but marks", "???", "???", "exact"],
  ])("compares texts: %s", (_, a, b, kind) => {
    const found = findDuplicates(tasks(a, b), "near");
    expect(found).toEqual(kind === null ? [] : [{ index: 1, other: 0, kind }]);
    const exact = findDuplicates(tasks(a, b), "exact");
    expect(exact).toHaveLength(kind === "exact" ? 1 : 0);
  });

  it("keeps the first of several", () => {
    const all = tasks("a", "b", "A", "a ", "c");
    const left = withoutDuplicates(all, findDuplicates(all, "exact"));
    expect(Array.from(left, ({ id }) => id)).toEqual(["t0", "t1", "t4"]);
  });

  it("compares whole rows where tasks share their instruction", () => {
    const rows = ["x", "y", "x", "z"].map((board, i) => ({
      id: `t${i}`,
      instruction: "Solve the puzzle.",
      metadata: { id: i, board },
    }));
    expect(findDuplicates(rows, "near")).toEqual([{ index: 2, other: 0, kind: "exact" }]);
  });
});

describe("findLeaks", () => {
  it("names the training task of each validation task", () => {
    const train = tasks("one apple", long, "two pears");
    const val = tasks("Two  pears", long.replace("noon", "dawn"), "three plums", "two pears");
    const found = findLeaks(train, val).map(({ val: a, train: b, kind }) => [a.id, b.id, kind]);
    expect(found).toEqual([
      ["t0", "t2", "exact"],
      ["t1", "t1", "near"],
      ["t3", "t2", "exact"],
    ]);
    expect(findLeaks(train, val, "exact")).toHaveLength(2);
  });
});

describe("the index of near duplicates", () => {
  it("finds what comparing all pairs finds", () => {
    const random = createRandom(deriveSeed(7, "texts"));
    const words = Array.from({ length: 12 }, (_, i) => String.fromCharCode(97 + i).repeat(3));
    const word = (): string => words[Math.floor(random() * words.length)]!;
    const texts = Array.from({ length: 60 }, () => Array.from({ length: 30 }, word));
    // Copies with up to four changed words, on both sides of the threshold.
    const copies = texts.map((text, i) => {
      const copy = [...text];
      for (let change = 0; change < i % 5; change++) copy[Math.floor(random() * 30)] = word();
      return copy;
    });
    const shingles = [...texts, ...copies].map((text) => shinglesOf(text.join(" ")));
    const index = new NearIndex();
    for (const one of shingles) index.count(one);
    let pairs = 0;
    for (const [i, one] of shingles.entries()) {
      const own = new Set(one.hashes);
      const expected = [...shingles.keys()].filter(
        (j) => j < i && jaccard(shingles[j]!.hashes, own) >= nearThreshold,
      );
      expect(index.find(one).toSorted((a, b) => a - b)).toEqual(expected);
      pairs += expected.length;
      index.add(i, one);
    }
    expect(pairs).toBeGreaterThan(20);
    expect(pairs).toBeLessThan(60);
  });
});
