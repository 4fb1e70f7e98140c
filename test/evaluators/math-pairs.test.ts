/**
 * Our verdicts against those of math-verify, on answers whose verdict is known by how they were built.
 * Made by scripts/fixtures/make_math_pairs.py; test/fixtures/math-differences.json says who is right.
 */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { math } from "../../src/evaluators/index.ts";
import { episodeOf, taskOf } from "./episode-of.ts";

/** Reference, response, what is right (2: a matter of taste), and what math-verify says. */
type Pair = readonly [string, string, 0 | 1 | 2, 0 | 1];

interface Difference {
  readonly kind: string;
  readonly right: "ours" | "theirs" | "taste";
  readonly why: string;
  readonly pairs: readonly (readonly [string, string])[];
}

const read = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../fixtures/${name}`, import.meta.url), "utf8"));
const { versions, ...kinds } = read("math-pairs.json") as Readonly<Record<string, readonly Pair[]>>;
const differences = read("math-differences.json") as readonly Difference[];
const scorer = math();
const ours = ([answer, response]: Pair): number =>
  scorer(taskOf({ answer }), episodeOf(response)).reward;

describe("math and math-verify", () => {
  it("were compared on thousands of answers", () => {
    expect(versions).toMatchObject({ "math-verify": "0.9.0" });
    expect(Object.values(kinds).flat().length).toBeGreaterThan(5_000);
    expect(differences.every(({ why }) => why.length > 10)).toBe(true);
    expect(differences.filter(({ right }) => right === "theirs")).toEqual([]);
  });

  it.each(Object.entries(kinds))("%s: every verdict is right", (_kind, pairs) => {
    const wrong = pairs.filter((pair) => pair[2] !== 2 && ours(pair) !== pair[2]);
    expect(wrong).toEqual([]);
  });

  it.each(Object.entries(kinds))("%s: every difference is listed", (kind, pairs) => {
    const found = pairs.filter((pair) => ours(pair) !== pair[3]);
    const listed = differences.filter((group) => group.kind === kind);
    const asText = (rows: readonly (readonly unknown[])[]): readonly string[] =>
      rows.map(([answer, response]) => `${String(answer)} <- ${String(response)}`).toSorted();
    expect(asText(found)).toEqual(asText(listed.flatMap((group) => group.pairs)));
    const tastes = found.filter((pair) => pair[2] === 2);
    const listedTastes = listed.filter(({ right }) => right === "taste");
    expect(asText(tastes)).toEqual(asText(listedTastes.flatMap((group) => group.pairs)));
  });
});
