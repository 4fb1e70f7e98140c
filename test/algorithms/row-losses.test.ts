/** The losses far from where tokens were sampled, and losses as users write them. */
import { describe, expect, it } from "vitest";
import { rowLossOf } from "../../src/core/loss/row-losses.ts";
import { toRowLoss, type LossFunction } from "../../src/algorithms/losses/loss-function.ts";
import type { LossRow } from "../../src/core/loss/row-loss.ts";
import { defaultLoss, lossNames, type LossName, type LossSpec } from "../../src/core/loss/loss.ts";
import { createRandom } from "../../src/util/random.ts";

/** Ratios well inside and far outside of every limit, advantages of both signs and none. */
function randomRow(seed: number, size: number): LossRow {
  const random = createRandom(seed);
  const list = (of: () => number): Float64Array =>
    Float64Array.from({ length: size }, () => Math.fround(of()));
  const logprobs = list(() => -3 * random());
  return {
    role: "agent",
    logprobs,
    samplingLogprobs: list(() => -3 * random()),
    advantages: list(() => (random() < 0.1 ? 0 : 4 * random() - 2)),
    weights: list(() => (random() < 0.3 ? 1 : 2 * random())),
  };
}

/** Far from the policy that sampled: each loss, and both signs of advantages. */
const far = lossNames.flatMap((name) =>
  [100, -100, 1000].flatMap((logRatio) =>
    [1, -1].map((advantage): [LossName, number, number] => [name, logRatio, advantage]),
  ),
);

describe.each(far)("%s at a log-ratio of %i, advantage %i", (name, logRatio, advantage) => {
  const now = -1;
  // exp(20) and no gradient, or for the mean of a row exp(10).
  const ratio = Math.exp(Math.max(-20, Math.min(name === "gspo" ? 10 : 20, logRatio)));
  const tau = advantage > 0 ? 1 : 1.05;
  const worked: Record<LossName, number> = {
    importance_sampling: -ratio * advantage,
    ppo: Math.max(-ratio * advantage, -Math.min(Math.max(ratio, 0.8), 1.2) * advantage),
    cispo: -Math.min(Math.max(ratio, 0.8), 1.2) * advantage * now,
    gspo: Math.max(-ratio * advantage, -Math.min(Math.max(ratio, 0.8), 1.2) * advantage),
    gmpo: Math.max(-ratio * advantage, -Math.exp(logRatio > 0 ? 0.2 : -0.2) * advantage),
    sapo: (-advantage * 4) / tau / (1 + Math.exp(-tau * (ratio - 1))),
    dro: 0.025 * logRatio ** 2 - advantage * now,
    cross_entropy: -now,
  };
  const gradients: Partial<Record<LossName, number>> = {
    cispo: -Math.min(Math.max(ratio, 0.8), 1.2) * advantage,
    dro: 0.05 * logRatio - advantage,
    cross_entropy: -1,
  };
  const row: LossRow = {
    role: "agent",
    logprobs: Float64Array.of(now),
    samplingLogprobs: Float64Array.of(now - logRatio),
    advantages: Float64Array.of(advantage),
    weights: Float64Array.of(1),
  };

  it.each([null, 3])("has the limited value and gradient, dual clip %s", (dualClip) => {
    const spec: LossSpec = { ...defaultLoss, name, aggregation: "token-sum", dualClip };
    const isBounded = name === "ppo" && dualClip !== null && advantage < 0;
    const value = isBounded ? Math.min(worked[name], 3) : worked[name];
    const { terms, gradient } = rowLossOf(name, spec)(row);
    expect(Math.abs(terms[0]! - value)).toBeLessThan(1e-8 * Math.max(1, Math.abs(value)));
    expect(gradient[0]).toBeCloseTo(gradients[name] ?? 0, 9);
  });
});

/** Formulas as users would write them. */
const formulas: Partial<Record<LossName, (spec: LossSpec) => LossFunction>> = {
  importance_sampling:
    () =>
    ({ logprob, samplingLogprob, advantage }) =>
      -Math.exp(logprob - samplingLogprob) * advantage,
  ppo:
    ({ epsClip, epsClipHigh }) =>
    ({ logprob, samplingLogprob, advantage }) => {
      const ratio = Math.exp(logprob - samplingLogprob);
      const limited = Math.min(Math.max(ratio, 1 - epsClip), 1 + epsClipHigh);
      return Math.max(-ratio * advantage, -limited * advantage);
    },
  cispo:
    ({ epsClip, epsClipHigh }) =>
    ({ logprob, fixedLogprob, samplingLogprob, advantage }) => {
      const ratio = Math.exp(fixedLogprob - samplingLogprob);
      return -Math.min(Math.max(ratio, 1 - epsClip), 1 + epsClipHigh) * advantage * logprob;
    },
  dro:
    ({ droBeta = 0.05 }) =>
    ({ logprob, samplingLogprob, advantage }) =>
      (droBeta / 2) * (logprob - samplingLogprob) ** 2 - advantage * logprob,
  cross_entropy:
    () =>
    ({ logprob }) =>
      -logprob,
};

describe.each(Object.entries(formulas))("%s as a formula of the user", (name, formula) => {
  it("is differentiated to 1e-8", () => {
    const spec: LossSpec = { ...defaultLoss, name: name as LossName };
    for (const seed of [4, 5, 6]) {
      const row = randomRow(seed, 20);
      const own = rowLossOf(name as LossName, spec)(row);
      const given = toRowLoss(formula(spec))(row);
      for (const i of row.logprobs.keys()) {
        expect(given.terms[i]).toBeCloseTo(own.terms[i]!, 12);
        expect(given.gradient[i]).toBeCloseTo(own.gradient[i]!, 8);
      }
    }
  });
});

describe("a loss of the user", () => {
  const row = randomRow(7, 3);
  it("may speak of a whole row", () => {
    const given = toRowLoss({
      row: ({ logprobs }) => ({
        terms: logprobs.map((l) => -l),
        gradient: new Float64Array(logprobs.length).fill(-1),
      }),
    })(row);
    expect([...given.gradient]).toEqual([-1, -1, -1]);
  });
  it("that is not a number ends the update with the token's place", () => {
    expect(() => toRowLoss(({ advantage }) => advantage / 0)({ ...row, role: "judge" })).toThrow(
      /The term that the loss function gave token \d of a row of "judge" is -?Infinity/u,
    );
    expect(() => toRowLoss((() => undefined) as never)(row)).toThrow("is NaN");
  });
  it("must give as many terms as there are tokens", () => {
    const short = { row: () => ({ terms: Float64Array.of(1), gradient: new Float64Array(3) }) };
    expect(() => toRowLoss(short)(row)).toThrow(
      "The loss function gave 1 terms for a row of 3 trained tokens.",
    );
  });
});
