/** An update by slopes against the engine's own update with the same loss, on real weights. */
import { describe, expect, it } from "vitest";
import { rowLossOf } from "../../src/core/loss/row-losses.ts";
import {
  defaultLoss,
  defaultOptim,
  lossNames,
  type LossSpec,
  type OptimSpec,
} from "../../src/core/loss/loss.ts";
import type { TrainingRow } from "../../src/core/loss/training-row.ts";
import { PolicyTrainer } from "../../src/engine/training/trainer.ts";
import { updateWithTrainerLoss } from "../../src/trainer/update/trainer-loss.ts";
import { randomTokens, rowOf, smallPolicy } from "../engine/small-model.ts";

const optim: OptimSpec = { ...defaultOptim, learningRate: 1e-3 };

/** A model of its own, with rows that it did not draw itself. */
async function setUp() {
  const policy = await smallPolicy({ rank: 4, alpha: 8 });
  const trainer = new PolicyTrainer(policy, { memoryMiB: 4 });
  const bare = [8, 14, 21].map((length, i) => rowOf(randomTokens(i + 1, length), 3));
  const now = await trainer.forward(bare);
  const rows = bare.map((row, i): TrainingRow => {
    const logprobs = now[i]!.subarray(3).map((l, k) => l + 0.5 * Math.sin(2 * k + i));
    const made = rowOf(row.tokens, 3, { logprobs, advantage: [1.5, -0.7, 0.4][i]! });
    return {
      ...made,
      weights: Float32Array.from(made.tokens, (_, k) => 1 + 0.5 * Math.cos(k)),
      provenance: { ...made.provenance, trajectoryName: i === 1 ? "judge" : "solver" },
    };
  });
  const backend = {
    forward: (some: readonly TrainingRow[]) => trainer.forward(some),
    async updatePolicy(some: readonly TrainingRow[], loss: LossSpec, numbers: OptimSpec) {
      const metrics = await trainer.forwardBackward(some, loss);
      return { ...metrics, ...(await trainer.optimStep(numbers)) };
    },
  };
  return { policy, trainer, rows, backend };
}

const additions: Partial<LossSpec>[] = [
  {},
  { aggregation: "seq-mean-token-mean", dualClip: 2 },
  { aggregation: "seq-mean-token-sum-norm", kl: { coef: 0.1, estimator: "k3" } },
  { entropyCoef: 0.01 },
];
const cases = lossNames.flatMap((name) =>
  additions.map((extra, i): [string, number, LossSpec] => [
    name,
    i,
    { ...defaultLoss, name, ...extra },
  ]),
);

describe("an update by slopes", () => {
  it.each(cases)("is the engine's own with %s, numbers %i", async (_, __, spec) => {
    const own = await setUp();
    const direct = await own.backend.updatePolicy(own.rows, spec, optim);
    const ours = await setUp();
    const withTrainerLoss = await updateWithTrainerLoss(
      ours.backend,
      ours.rows,
      { spec, lossOfRole: () => rowLossOf(spec.name, spec) },
      optim,
    );
    for (const [key, value] of Object.entries(direct))
      expect(withTrainerLoss[key], key).toBeCloseTo(value, 4);
    for (const { name } of own.policy.trained) {
      const expected = own.policy.data.get(name)!;
      for (const [i, weight] of ours.policy.data.get(name)!.entries())
        expect(Math.abs(weight - expected[i]!), `${name}[${i}]`).toBeLessThan(2e-5);
    }
  });

  it("gives each role its own loss", async () => {
    const { backend, rows } = await setUp();
    const seen: string[] = [];
    const silent = (role: string) => {
      seen.push(role);
      return rowLossOf(role === "judge" ? "cross_entropy" : "importance_sampling", defaultLoss);
    };
    const captured: TrainingRow[] = [];
    await updateWithTrainerLoss(
      {
        ...backend,
        updatePolicy: (some, loss, numbers) => {
          captured.push(...some);
          return backend.updatePolicy(some, loss, numbers);
        },
      },
      rows,
      { spec: defaultLoss, lossOfRole: silent },
      optim,
    );
    expect(seen).toEqual(["solver", "judge", "solver"]);
    const [, judge] = captured;
    // -log p has the slope -1, whatever the advantage; its weights are in it.
    for (let k = 3; k < judge!.tokens.length; k++)
      expect(judge!.advantages[k]).toBeCloseTo(1 + 0.5 * Math.cos(k), 6);
  });
});
