/**
 * Gradients of every loss and option through a whole model, against central differences of the loss
 * itself along random directions in the space of weights.
 */
import { describe, expect, it } from "vitest";
import {
  defaultLoss,
  klEstimators,
  lossAggregations,
  lossNames,
  type LossSpec,
} from "../../core/loss/loss.ts";
import type { TrainingRow } from "../../core/loss/training-row.ts";
import { createNormal, createRandom } from "../../util/random.ts";
import {
  adaptedPolicy,
  changeWeights,
  randomTokens,
  rowOf,
} from "../../../test/engine/small-model.ts";
import type { Policy } from "../decoder/policy.ts";
import { PolicyTrainer } from "./trainer.ts";

/** Distance of a difference: the third derivative is felt above, rounding below. */
const step = 1e-3;
const options = { memoryMiB: 100 };
const spec = (name: LossSpec["name"], extra: Partial<LossSpec> = {}): LossSpec => ({
  ...defaultLoss,
  name,
  epsClipHigh: 0.28,
  ...extra,
});
const everything: Partial<LossSpec> = {
  dualClip: 1.5,
  kl: { coef: 0.3, estimator: "k3" },
  entropyCoef: 0.2,
};
const differentiable: readonly LossSpec[] = [
  ...lossNames.map((name) => spec(name)),
  ...lossAggregations.slice(1).map((aggregation) => spec("ppo", { aggregation })),
  spec("ppo", { aggregation: "seq-mean-token-sum-norm", aggregationLength: 64 }),
  spec("ppo", { dualClip: 1.5 }),
  spec("gspo", { aggregation: "seq-mean-token-mean" }),
  spec("gmpo", { aggregation: "seq-mean-token-mean" }),
  spec("sapo", { sapoTauPositive: 2, sapoTauNegative: 3 }),
  spec("dro", { droBeta: 0.4 }),
  ...klEstimators.map((estimator) => spec("importance_sampling", { kl: { coef: 0.7, estimator } })),
  spec("importance_sampling", { entropyCoef: 0.5 }),
  ...lossNames.map((name) => spec(name, everything)),
].filter(({ name }) => name !== "cispo");

/** Ratios from about 0.5 to 2, beyond every limit on both sides. */
async function makeRows(trainer: PolicyTrainer): Promise<TrainingRow[]> {
  const bare = [6, 11, 18, 18].map((length, i) => rowOf(randomTokens(i + 1, length), 2));
  const logprobs = await trainer.forward(bare);
  return bare.map(({ tokens }, i) => ({
    ...rowOf(tokens, 2, {
      logprobs: logprobs[i]!.subarray(2).map((l, k) => l + 0.7 * Math.sin(2 * k + i)),
      advantage: [1.5, -0.7, 0.4, -1.2][i]!,
    }),
    weights: Float32Array.from(tokens, (_, k) => 1 + 0.5 * Math.cos(k + i)),
  }));
}

const lossOf = async (trainer: PolicyTrainer, rows: readonly TrainingRow[], loss: LossSpec) =>
  (await trainer.forwardBackward(rows, loss))["loss"]!;

async function gradientsOf(
  policy: Policy,
  rows: readonly TrainingRow[],
  loss: LossSpec,
): Promise<Map<string, Float32Array>> {
  const trainer = new PolicyTrainer(policy, options);
  await trainer.forwardBackward(rows, loss);
  const gradients = [...trainer.accumulatedGradients].map(
    ([name, gradient]) => [name, gradient.slice()] as const,
  );
  return new Map(gradients);
}

const dot = (a: Float32Array, b: Float32Array): number =>
  a.reduce((total, x, i) => total + x * b[i]!, 0);
const unit = (a: Float32Array): Float32Array => a.map((x) => x / Math.sqrt(dot(a, a)));

describe("gradients of a whole model equal finite differences", () => {
  it.each(differentiable.map((loss) => [JSON.stringify(loss), loss] as const))(
    "%s",
    async (_, loss) => {
      const policy = await adaptedPolicy();
      const trainer = new PolicyTrainer(policy, options);
      const weighted = await makeRows(trainer);
      // gspo fixes a row's ratio for each token, so that only equal weights give its value's gradient.
      const rows = loss.name === "gspo" ? weighted.map(withoutWeights) : weighted;
      const gradients = await gradientsOf(policy, rows, loss);
      const before = new Map(Array.from(policy.data, ([name, data]) => [name, data.slice()]));
      const normal = createNormal(createRandom(5));
      for (let trial = 0; trial < 3; trial++) {
        // Along a tensor's own gradient a wrong size shows, along random ones a wrong element.
        const directions = new Map(
          Array.from(gradients, ([name, gradient]) => {
            const random = unit(gradient.map(normal));
            return [name, unit(gradient).map((x, i) => x + random[i]!)];
          }),
        );
        const lossAt = async (distance: number): Promise<number> => {
          await changeWeights(policy, (name, data) => {
            const direction = directions.get(name)!;
            data.set(before.get(name)!.map((x, i) => x + distance * direction[i]!));
          });
          return lossOf(trainer, rows, loss);
        };
        const numeric = ((await lossAt(step)) - (await lossAt(-step))) / (2 * step);
        const analytic = [...directions].reduce(
          (sum, [name, direction]) => sum + dot(gradients.get(name)!, direction),
          0,
        );
        expect(Math.abs(numeric - analytic)).toBeLessThan(0.001 * Math.abs(analytic));
      }
    },
  );
});

describe("cispo", () => {
  // Its ratio is a weight without a gradient, so there is no value to take differences of.
  it.each([spec("cispo"), spec("cispo", everything)])(
    "has the gradient of cross-entropy whose tokens weigh the limited ratio times the advantage",
    async (loss) => {
      const policy = await adaptedPolicy();
      const trainer = new PolicyTrainer(policy, options);
      const rows = await makeRows(trainer);
      const logprobs = await trainer.forward(rows);
      const weighed = rows.map((row, i) => ({
        ...row,
        weights: row.weights!.map((weight, k) => {
          const ratio = Math.exp(logprobs[i]![k]! - row.samplingLogprobs[k]!);
          const limited = Math.min(Math.max(ratio, 1 - loss.epsClip), 1 + loss.epsClipHigh);
          return weight * limited * row.advantages[k]!;
        }),
      }));
      const expected = await gradientsOf(policy, weighed, { ...loss, name: "cross_entropy" });
      const found = await gradientsOf(policy, rows, loss);
      for (const [name, gradient] of expected) {
        const difference = found.get(name)!.map((x, i) => x - gradient[i]!);
        expect(dot(difference, difference), name).toBeLessThan(1e-8 * dot(gradient, gradient));
      }
    },
  );
});

function withoutWeights(row: TrainingRow): TrainingRow {
  const { weights: _, ...rest } = row;
  return rest;
}
