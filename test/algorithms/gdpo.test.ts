/** GDPO against TRL's own numbers (`scripts/fixtures/make_gdpo.py`), and what GRPO makes of the same rewards. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type EstimatorOptions, gdpo, grpo } from "../../src/algorithms/estimators.ts";

type Signals = Readonly<Record<string, number>>;

interface Golden {
  readonly cases: readonly {
    readonly group: number;
    readonly weights: readonly number[];
    readonly signals: readonly (readonly (number | null)[])[];
    readonly gdpo: readonly number[];
  }[];
}
const file = new URL("gdpo-golden.json", import.meta.url);
const golden = JSON.parse(readFileSync(file, "utf8")) as Golden;

const inGroups = <T>(all: readonly T[], size: number): T[][] =>
  Array.from({ length: all.length / size }, (_, g) => all.slice(g * size, (g + 1) * size));

function options(signals: Signals[][], weights: Signals = {}): EstimatorOptions {
  return {
    normByStd: true,
    lengths: signals.map((group) => group.map(() => 1)),
    signals,
    weights: new Map(Object.entries(weights)),
    outcomes: [],
  };
}

/** Rewards that are the plain sums of the signals. */
const sums = (signals: Signals[][]): number[][] =>
  signals.map((group) => group.map((one) => Object.values(one).reduce((a, b) => a + b, 0)));

// TRL has no reward by which to compare a rollout without any signal, and gives it 0.
const comparable = golden.cases.filter(({ signals }) =>
  signals.every((values) => values.some((value) => value !== null)),
);

describe("gdpo", () => {
  it.each(comparable)("is TRL's on $signals.length rollouts, $group of each task", (given) => {
    const names = given.weights.map((_, k) => `s${k}`);
    const all = given.signals.map((values) =>
      Object.fromEntries(
        names.flatMap((name, k) => (values[k] == null ? [] : [[name, values[k]]])),
      ),
    ) as Signals[];
    const groups = inGroups(all, given.group);
    const weights = Object.fromEntries(names.map((name, k) => [name, given.weights[k]!]));
    const found = gdpo(sums(groups), options(groups, weights)).flatMap((group) => [...group]);
    const distance = found.map((value, i) => Math.abs(value - given.gdpo[i]!));
    expect(found).toHaveLength(given.gdpo.length);
    expect(Math.max(...distance)).toBeLessThan(1e-9);
  });

  // Two rewards of 0 or 1 (arXiv:2601.05242): "one of two" in a hard task, "both" in another.
  const bits = (...pairs: readonly string[]): Signals[] =>
    pairs.map((pair) => ({ right: Number(pair[0]), format: Number(pair[1]) }));

  it("tells apart what GRPO collapses: rollouts that are good at different things", () => {
    const signals = [bits("10", "01", "01", "01")];
    const rewards = sums(signals);
    expect([...grpo(rewards, options(signals))[0]!]).toEqual([0, 0, 0, 0]);
    const weighted = gdpo(rewards, options(signals, { right: 1, format: 0.5 }))[0]!;
    expect(weighted[0]).toBeGreaterThan(1);
    expect(weighted[1]).toBeLessThan(-0.4);
  });

  it("pays more for two of two than for one of two, where GRPO pays the same", () => {
    const signals = [bits("00", "00", "10", "00"), bits("00", "00", "11", "00")];
    const rewards = sums(signals);
    const collapsed = grpo(rewards, options(signals));
    expect(collapsed[0]![2]).toBeCloseTo(collapsed[1]![2]!, 5);
    const apart = gdpo(rewards, options(signals));
    expect(apart[1]![2]! / apart[0]![2]!).toBeCloseTo(2, 3);
  });

  it("takes all signals where none has a weight, and the reward where there are none", () => {
    const signals = [bits("10", "01", "00", "11")];
    const rewards = sums(signals);
    const named = options(signals, { right: 1, format: 1 });
    expect(gdpo(rewards, options(signals))).toEqual(gdpo(rewards, named));
    const none = [rewards[0]!.map((): Signals => ({}))];
    expect(gdpo(rewards, options(none))).toEqual(gdpo(rewards, options(none, { reward: 1 })));
    expect(gdpo(rewards, options(none))[0]!.some((value) => value !== 0)).toBe(true);
  });

  it("compares a rollout that has none of the signals by its reward, with the sum of the weights", () => {
    const signals = [[{ right: 1, short: 0 }, { right: 0, short: 1 }, {}] as Signals[]];
    const [values] = gdpo([[1, 1, 0]], options(signals, { right: 1, short: 1 }));
    // z of the signals is +-0.7071 and cancels; z of the reward 0 among 1, 1, 0 is -1.1545, times 2.
    const totals = [0, 0, (-2 * (2 / 3)) / (Math.sqrt(1 / 3) + 1e-4)];
    const center = totals[2]! / 3;
    const std = Math.abs(totals[2]!) / Math.sqrt(3) + 1e-4;
    for (const [i, sum] of totals.entries())
      expect(values![i]).toBeCloseTo((sum - center) / std, 9);
    expect(values![2]).toBeLessThan(0);
  });

  it("gives a group of one 0", () => {
    expect([...gdpo([[1], [0, 1]], options([[{ a: 1 }], [{ a: 0 }, { a: 1 }]]))[0]!]).toEqual([0]);
  });
});
