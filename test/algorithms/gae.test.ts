/** GAE and the value loss against verl's own numbers (`scripts/fixtures/make_gae.py`), and worked by hand. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { estimateGae, explainedVariance, whitened } from "../../src/algorithms/gae.ts";
import { valueTerm } from "../../src/core/loss/value-loss.ts";

type Lists = readonly (readonly (number | null)[])[];
interface Case {
  readonly gamma: number;
  readonly lambda: number;
  readonly values: Lists;
  readonly rewards: Lists;
  readonly advantages: Lists;
  readonly whitened: Lists;
  readonly returns: Lists;
  readonly update: {
    readonly clip: number;
    readonly values: Lists;
    readonly loss: number;
    readonly clipFraction: number;
    readonly gradient: Lists;
  };
}
const { cases } = JSON.parse(readFileSync(new URL("gae-golden.json", import.meta.url), "utf8")) as {
  readonly cases: readonly Case[];
};

/** Sampled tokens only. */
const sampled = (lists: Lists): Float64Array[] =>
  lists.map((list) => Float64Array.from(list.filter((value) => value !== null)));
const distance = (ours: readonly Float64Array[], theirs: Lists): number =>
  Math.max(
    ...sampled(theirs).flatMap((list, i) => {
      expect(ours[i]).toHaveLength(list.length);
      return Array.from(list, (value, t) => Math.abs(value - ours[i]![t]!));
    }),
  );

describe("GAE", () => {
  it.each(cases.map((one, i) => [i, one] as const))("is verl's on batch %i", (_, one) => {
    const values = sampled(one.values);
    const estimated = sampled(one.rewards).map((rewards, i) =>
      estimateGae(rewards, values[i]!, one),
    );
    const advantages = estimated.map((each) => each.advantages);
    expect(distance(advantages, one.advantages)).toBeLessThan(1e-12);
    // verl adds 1e-8 to the number of tokens.
    expect(distance(whitened(advantages), one.whitened)).toBeLessThan(1e-8);
    const returns = estimated.map((each) => each.returns);
    expect(distance(returns, one.returns)).toBeLessThan(1e-12);
  });

  it("is worked by hand: a reward at the end, known better and better", () => {
    // delta = 0.6 - 0.5, 1 - 0.6; discounted: 0.9 * 0.6 - 0.5, 1 - 0.6.
    const values = [0.5, 0.6];
    const plain = estimateGae([0, 1], values, { gamma: 1, lambda: 0.5 });
    expect([...plain.advantages]).toEqual([0.1 + 0.5 * 0.4, 0.4].map((x) => expect.closeTo(x, 12)));
    const discounted = estimateGae([0, 1], values, { gamma: 0.9, lambda: 0.5 });
    expect([...discounted.returns]).toEqual(
      [0.04 + 0.45 * 0.4 + 0.5, 1].map((x) => expect.closeTo(x, 12)),
    );
  });

  it("has the return as its advantage where values are 0, and the same one at every token", () => {
    const { advantages } = estimateGae([0, 0, 2], [0, 0, 0], { gamma: 1, lambda: 1 });
    expect([...advantages]).toEqual([2, 2, 2]);
  });

  it("whitens one number, or equal ones, to 0", () => {
    expect(whitened([Float64Array.of(3)])).toEqual([Float64Array.of(0)]);
    expect(whitened([Float64Array.of(3, 3), Float64Array.of(3)])).toEqual([
      Float64Array.of(0, 0),
      Float64Array.of(0),
    ]);
  });

  it("explains variance: all of it, none of it, and none where there is none", () => {
    const returns = [Float64Array.of(0, 1), Float64Array.of(2)];
    expect(explainedVariance(returns, returns)).toBe(1);
    expect(explainedVariance(returns, [Float64Array.of(1, 1), Float64Array.of(1)])).toBe(0);
    // Errors of 0, 1, 0: (2/3) / 2.
    expect(explainedVariance(returns, [Float64Array.of(0, 0), Float64Array.of(2)])).toBeCloseTo(
      2 / 3,
      12,
    );
    expect(explainedVariance([Float64Array.of(1, 1)], [Float64Array.of(0, 3)])).toBeNull();
  });
});

describe("the value loss", () => {
  it.each(cases.map((one, i) => [i, one] as const))("is verl's on batch %i", (_, one) => {
    const { update } = one;
    const [now, before, returns] = [update.values, one.values, one.returns].map(sampled);
    const terms = now!.map((list, i) =>
      Array.from(list, (value, t) =>
        valueTerm(value, before![i]![t]!, returns![i]![t]!, update.clip),
      ),
    );
    const all = terms.flat();
    const sum = (of: (term: (typeof all)[number]) => number): number =>
      all.reduce((total, term) => total + of(term), 0) / all.length;
    expect(sum(({ term }) => term)).toBeCloseTo(update.loss, 12);
    // verl adds 1e-8 to the number of tokens.
    expect(sum(({ isClipped }) => (isClipped ? 1 : 0))).toBeCloseTo(update.clipFraction, 7);
    const gradients = terms.map((list) =>
      Float64Array.from(list, ({ gradient }) => gradient / all.length),
    );
    expect(distance(gradients, update.gradient)).toBeLessThan(1e-12);
  });

  it("is worked by hand, with and without a clip", () => {
    // verl's example: values 1 and 2 were 0.5 and 1.5, returns are 0 and 2.5, the clip is 0.2.
    const terms = [valueTerm(1, 0.5, 0, 0.2), valueTerm(2, 1.5, 2.5, 0.2)];
    expect(terms.map(({ term }) => term)).toEqual([0.5, 0.32].map((x) => expect.closeTo(x, 12)));
    expect(terms.map(({ isClipped }) => isClipped)).toEqual([false, true]);
    expect(valueTerm(2, 1.5, 2.5, null)).toEqual({ term: 0.125, gradient: -0.5, isClipped: false });
  });
});
