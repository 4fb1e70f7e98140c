import { describe, expect, it } from "vitest";
import { importanceWeights, parseWeightLimit } from "./importance-weights.ts";
import { offPolicyMetrics } from "./off-policy-metrics.ts";
import { parseRejection, reject, rejectionNames, type RejectionRule } from "./rejection.ts";

// verl's own numbers for these log-probabilities; masked tokens of its fixture are left out.
const old = [
  [-1, -2, -0.5],
  [-0.3, -1.2],
  [-2, -0.4, -1],
].map((row) => Float64Array.from(row));
const rollout = [
  [-1.1, -1.5, -0.5],
  [-0.9, -3],
  [-1, -0.45, -0.2],
].map((row) => Float64Array.from(row));
const logRatios = old.map((row, r) => row.map((value, i) => value - rollout[r]![i]!));

/** verl's numbers have six digits after the point. */
const digits = 5.6;

function expectClose(
  actual: readonly ArrayLike<number>[],
  expected: readonly (readonly number[])[],
): void {
  expect(actual.map((row) => row.length)).toEqual(expected.map((row) => row.length));
  for (const [r, row] of expected.entries())
    for (const [i, value] of row.entries()) expect(actual[r]![i]).toBeCloseTo(value, digits);
}

describe("importance weights", () => {
  it.each([
    [
      "token",
      2,
      false,
      [
        [1.105171, 0.606531, 1],
        [1.822119, 2],
        [0.367879, 1.051271, 0.449329],
      ],
    ],
    [
      "token",
      "2.0",
      true,
      [
        [1.052256, 0.57749, 0.95212],
        [1.734876, 1.90424],
        [0.350265, 1.000937, 0.427815],
      ],
    ],
    [
      "token",
      "0.5_2.0",
      false,
      [
        [1.105171, 0.606531, 1],
        [1.822119, 0],
        [0, 1.051271, 0],
      ],
    ],
    [
      "sequence",
      2,
      false,
      [
        [0.67032, 0.67032, 0.67032],
        [2, 2],
        [0.173774, 0.173774, 0.173774],
      ],
    ],
    [
      "sequence",
      2,
      true,
      [
        [0.707065, 0.707065, 0.707065],
        [2.109635, 2.109635],
        [0.1833, 0.1833, 0.1833],
      ],
    ],
    [
      "sequence",
      "0.5_2.0",
      true,
      [
        [3, 3, 3],
        [0, 0],
        [0, 0, 0],
      ],
    ],
  ] as const)("%s, limit %s, normalised %s", (mode, limit, normalize, expected) => {
    const options = { mode, limit: parseWeightLimit(limit)!, normalize };
    expectClose(importanceWeights(logRatios, options).weights, expected);
  });

  it("have the effective sample size and the shares that verl reports", () => {
    const limit = parseWeightLimit(2)!;
    const { metrics } = importanceWeights(logRatios, { mode: "token", limit, normalize: true });
    const expected = {
      mean: 1.050287,
      std: 0.562024,
      eff_sample_size: 0.777395,
      ratio_fraction_high: 0.125,
      ratio_fraction_low: 0.25,
      seq_mean: 1.145929,
    };
    for (const [name, value] of Object.entries(expected))
      expect(metrics[`rollout_correction/rollout_is_${name}`], name).toBeCloseTo(value, digits);
    const sequence = importanceWeights(logRatios, { mode: "sequence", limit, normalize: false });
    expect(sequence.metrics["rollout_correction/rollout_is_eff_sample_size"]).toBeCloseTo(
      0.56511,
      digits,
    );
  });

  it.each([
    [2, { mean: 0.816535, std: 0.716305, seq_mean: 0.948031 }],
    ["0.5_2.0", { mean: 0.25137, std: 0.324517, seq_mean: 0.22344 }],
  ] as const)("of rows have verl's metrics of rows, limit %s", (limit, means) => {
    const { metrics } = importanceWeights(logRatios, {
      mode: "sequence",
      limit: parseWeightLimit(limit)!,
      normalize: true,
    });
    // Computed by verl 0.9.1: extremes and shares are of the rows' ratios before the limit.
    const expected = {
      ...means,
      max: 11.023176,
      min: 0.173774,
      ratio_fraction_high: 1 / 3,
      ratio_fraction_low: 1 / 3,
    };
    for (const [name, value] of Object.entries(expected))
      expect(metrics[`rollout_correction/rollout_is_${name}`], name).toBeCloseTo(value, digits);
  });

  it("of tokens have the extremes of what is applied, as verl has", () => {
    const of = (limit: string | number) =>
      importanceWeights(logRatios, {
        mode: "token",
        limit: parseWeightLimit(limit)!,
        normalize: false,
      }).metrics;
    expect(of(2)["rollout_correction/rollout_is_max"]).toBe(2);
    expect(of(2)["rollout_correction/rollout_is_min"]).toBeCloseTo(0.367879, digits);
    expect(of("0.5_2.0")["rollout_correction/rollout_is_max"]).toBeCloseTo(1.822119, digits);
    expect(of("0.5_2.0")["rollout_correction/rollout_is_min"]).toBe(0);
  });

  it("are 1 where nothing differs, finite where everything does, and none without a token", () => {
    const options = { mode: "token", limit: parseWeightLimit(5)!, normalize: true } as const;
    expectClose(importanceWeights([new Float64Array(2)], options).weights, [[1, 1]]);
    const far = [Float64Array.of(1e4, -1e4)];
    const { weights, metrics } = importanceWeights(far, { ...options, normalize: false });
    expectClose(weights, [[5, Math.exp(-20)]]);
    expect(Object.values(metrics).every(Number.isFinite)).toBe(true);
    expect(importanceWeights([new Float64Array(0)], options)).toEqual({
      weights: [new Float64Array(0)],
      metrics: {},
    });
  });

  it("that are all masked stay 0 when they are normalised", () => {
    const limit = parseWeightLimit("0.9_1.1")!;
    const far = [Float64Array.of(1, 2)];
    expectClose(importanceWeights(far, { mode: "token", limit, normalize: true }).weights, [
      [0, 0],
    ]);
  });

  it.each([0, -1, "", "a", "2_1", "1_1", Infinity])("have no limit %j", (value) => {
    expect(parseWeightLimit(value)).toBeNull();
  });
});

const rules = (names: string, thresholds: string): readonly RejectionRule[] => {
  const bounds = thresholds.split(",");
  const parsed = parseRejection(names.split(",").map((name, i) => `${name}=${bounds[i]}`));
  if (typeof parsed === "string") throw new Error(parsed);
  return parsed;
};

describe("rejection", () => {
  it.each([
    [
      "token_k1",
      "0.5_2.0",
      [
        [1, 1, 1],
        [1, 0],
        [0, 1, 0],
      ],
    ],
    [
      "token_k1",
      "2.0",
      [
        [1, 1, 1],
        [1, 0],
        [0, 1, 0],
      ],
    ],
    [
      "token_k2",
      "0.3",
      [
        [1, 1, 1],
        [1, 0],
        [0, 1, 0],
      ],
    ],
    [
      "token_k3",
      "0.3",
      [
        [1, 1, 1],
        [1, 0],
        [0, 1, 1],
      ],
    ],
    [
      "seq_sum_k1",
      "0.5_2.0",
      [
        [1, 1, 1],
        [0, 0],
        [0, 0, 0],
      ],
    ],
    [
      "seq_mean_k1",
      "0.6_1.6",
      [
        [1, 1, 1],
        [0, 0],
        [0, 0, 0],
      ],
    ],
    [
      "seq_mean_k2",
      "0.3",
      [
        [1, 1, 1],
        [0, 0],
        [1, 1, 1],
      ],
    ],
    [
      "seq_mean_k3",
      "0.5",
      [
        [1, 1, 1],
        [0, 0],
        [1, 1, 1],
      ],
    ],
    [
      "seq_sum_k3",
      "0.5",
      [
        [1, 1, 1],
        [0, 0],
        [0, 0, 0],
      ],
    ],
    [
      "seq_max_k2",
      "0.6",
      [
        [1, 1, 1],
        [0, 0],
        [1, 1, 1],
      ],
    ],
    [
      "seq_max_k3",
      "0.2",
      [
        [1, 1, 1],
        [0, 0],
        [0, 0, 0],
      ],
    ],
    [
      "token_k1,seq_mean_k3",
      "0.5_2.0,0.5",
      [
        [1, 1, 1],
        [0, 0],
        [0, 1, 0],
      ],
    ],
  ])("by %s with %s keeps what verl keeps", (names, thresholds, expected) => {
    const { kept } = reject(logRatios, rules(names, thresholds), null);
    expect(kept.map((row) => [...row])).toEqual(expected);
  });

  // Computed by verl 0.9.1: tokens that stay, and the shares of tokens and rows with one that does not.
  it.each([
    ["token_k1", "0.9_2.0", ["111", "00", "010"], 0.5, 2 / 3],
    ["token_k1", "0.5_1.1", ["101", "10", "010"], 0.5, 1],
    ["token_k1", "0.4_2.0", ["111", "10", "010"], 0.375, 2 / 3],
    ["seq_mean_k1", "0.3_1.2", ["111", "11", "000"], 0.375, 1 / 3],
    ["seq_sum_k1", "0.5_1.2", ["000", "00", "000"], 1, 1],
  ] as const)(
    "by %s with the uneven bounds %s is verl's",
    (name, bounds, expected, tokens, rows) => {
      const { kept, metrics } = reject(logRatios, rules(name, bounds), null);
      expect(kept.map((row) => row.join(""))).toEqual(expected);
      expect(metrics["rollout_correction/rollout_rs_masked_fraction"]).toBeCloseTo(tokens, digits);
      expect(metrics["rollout_correction/rollout_rs_seq_masked_fraction"]).toBeCloseTo(
        rows,
        digits,
      );
    },
  );

  it("counts tokens and rows that are left out", () => {
    const { metrics } = reject(logRatios, rules("seq_mean_k3", "0.5"), null);
    expect(metrics["rollout_correction/rollout_rs_masked_fraction"]).toBeCloseTo(2 / 8, 12);
    expect(metrics["rollout_correction/rollout_rs_seq_masked_fraction"]).toBeCloseTo(1 / 3, 12);
    const some = reject(logRatios, rules("token_k1", "0.4_2.0"), null).metrics;
    expect(some["rollout_correction/rollout_rs_seq_masked_fraction"]).toBeCloseTo(2 / 3, 12);
    expect(some["rollout_correction/rollout_rs_seq_dropped_fraction"]).toBe(0);
  });

  it("vetoes a row for one token that the trainer would hardly have drawn", () => {
    const { kept, metrics } = reject([Float64Array.of(0.1, Math.log(1e-5), 0)], [], 1e-4);
    expect([...kept[0]!]).toEqual([0, 0, 0]);
    expect(metrics["rollout_correction/rollout_token_veto_fraction"]).toBe(1);
    expect([...reject([Float64Array.of(Math.log(2e-4))], [], 1e-4).kept[0]!]).toEqual([1]);
  });

  it("has a rule for every name, and says what is wrong with others", () => {
    for (const name of rejectionNames) expect(parseRejection([`${name}=2`]), name).toHaveLength(1);
    expect(parseRejection(["token_k4=2"])).toContain('no rejection "token_k4"');
    expect(parseRejection(["seq_max_k1=2"])).toContain("no rejection");
    expect(parseRejection(["token_k1=2", "token_k2"])).toContain("a number above 0");
    expect(parseRejection(["token_k2=0.1_2"])).toContain("a number above 0");
    expect(parseRejection(["token_k1=0.5"])).toContain("above 1 or low_high");
  });

  it("has nothing to say of rows without trained tokens", () => {
    expect(reject([new Float64Array(0)], rules("seq_mean_k1", "2"), 0.1).metrics).toEqual({});
  });
});

describe("off-policy metrics", () => {
  it("are those of verl", () => {
    const metrics = offPolicyMetrics(old, rollout);
    const expected = {
      training_ppl: 2.811421,
      training_log_ppl: 1.016667,
      rollout_ppl: 3.857453,
      rollout_log_ppl: 1.177778,
      kl_k1: -0.03125,
      kl_k3: 0.525243,
      log_ppl_diff: -0.161111,
      log_ppl_abs_diff: 0.638889,
      log_ppl_diff_max: 0.583333,
      log_ppl_diff_min: -1.2,
      ppl_ratio: 1.078609,
      chi2: 4.493754,
      chi2_seq: 39.663303,
    };
    for (const [name, value] of Object.entries(expected))
      expect(metrics[`off_policy/${name}`]! / value, name).toBeCloseTo(1, 5);
  });

  it("tell the extremes of ratios and differences", () => {
    const metrics = offPolicyMetrics([Float64Array.of(-1, -1)], [Float64Array.of(-1.5, -0.5)]);
    expect(metrics["off_policy/ratio_max"]).toBeCloseTo(Math.exp(0.5), 12);
    expect(metrics["off_policy/ratio_min"]).toBeCloseTo(Math.exp(-0.5), 12);
    expect(metrics["off_policy/ratio_mean"]).toBeCloseTo(Math.cosh(0.5), 12);
    expect(metrics["off_policy/logprob_abs_diff_mean"]).toBeCloseTo(0.5, 12);
    expect(metrics["off_policy/prob_abs_diff_max"]).toBeCloseTo(Math.exp(-0.5) - Math.exp(-1), 12);
    // (cosh x)^2 / cosh 2x
    expect(metrics["off_policy/ess_fraction"]).toBeCloseTo(Math.cosh(0.5) ** 2 / Math.cosh(1), 12);
  });

  it("are zeros and ones on policy, and none without a token", () => {
    const metrics = offPolicyMetrics(old, old);
    for (const name of ["kl_k1", "kl_k3", "chi2", "chi2_seq", "log_ppl_diff"])
      expect(metrics[`off_policy/${name}`], name).toBe(0);
    for (const name of ["ratio_mean", "ess_fraction", "ppl_ratio"])
      expect(metrics[`off_policy/${name}`], name).toBe(1);
    expect(offPolicyMetrics([new Float64Array(0)], [new Float64Array(0)])).toEqual({});
  });
});
