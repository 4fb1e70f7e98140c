/**
 * Rows at temperatures other than 1: everything the engine computes of them is that of
 * softmax(logits / T), which plain JavaScript recomputes here from probabilities of every token.
 */
import { describe, expect, it } from "vitest";
import { defaultLoss, type LossSpec } from "../../core/loss/loss.ts";
import type { TrainingRow } from "../../core/loss/training-row.ts";
import { createNormal, createRandom } from "../../util/random.ts";
import {
  adaptedPolicy,
  changeWeights,
  randomTokens,
  rowOf,
  smallConfig,
  smallPolicy,
} from "../../../test/engine/small-model.ts";
import { PolicyTrainer } from "./trainer.ts";

const options = { memoryMiB: 100 };
const temperatures = [0.5, 0.7, 1.3];
const lengths = [6, 11, 18, 18];
const promptLength = 2;

/** [row][length][V] log-probabilities at temperature 1: logits but for a constant, which cancels. */
async function allLogprobs(
  trainer: PolicyTrainer,
  rows: readonly TrainingRow[],
): Promise<number[][][]> {
  const V = smallConfig.vocabSize;
  return Promise.all(
    rows.map(async ({ tokens, targetMask }) => {
      const all: number[][] = [];
      for (let at = 1; at < tokens.length; at++) {
        if (targetMask[at] !== 1) continue;
        const candidates = Array.from({ length: V }, (_, v) =>
          rowOf(Int32Array.of(...tokens.subarray(0, at), v), at),
        );
        const found = await trainer.forward(candidates);
        all[at] = found.map((values) => values[at]!);
      }
      return all;
    }),
  );
}

/** log softmax(logits / T), in doubles. */
function tempered(logits: readonly number[], temperature: number): number[] {
  const scaled = logits.map((l) => l / temperature);
  const top = Math.max(...scaled);
  const total = top + Math.log(scaled.reduce((sum, l) => sum + Math.exp(l - top), 0));
  return scaled.map((l) => l - total);
}

const entropyOf = (logprobs: readonly number[]): number =>
  -logprobs.reduce((sum, l) => sum + Math.exp(l) * l, 0);

/** Rows at `temperature`, or each at another one. */
function rowsAt(temperature: (i: number) => number): TrainingRow[] {
  return lengths.map((length, i) => ({
    ...rowOf(randomTokens(i + 1, length), promptLength, {
      logprobs: Float32Array.from({ length: length - promptLength }, (_, k) => -3 + Math.sin(k)),
      advantage: [1.5, -0.7, 0.4, -1.2][i]!,
    }),
    temperature: temperature(i),
  }));
}

const cases = [
  ...temperatures.map((T) => [`T=${T}`, () => T] as const),
  ["mixed", (i: number) => [0.5, 1, 0.7, 1.3][i]!] as const,
];

describe("rows at a temperature", () => {
  it.each(cases)(
    "log-probabilities, loss, entropy and KL are those of softmax(logits / T): %s",
    async (_, temperature) => {
      const rows = rowsAt(temperature);
      const trainer = new PolicyTrainer(await adaptedPolicy(), options);
      const reference = new PolicyTrainer(await smallPolicy(), options);
      const logits = await allLogprobs(trainer, rows);
      const logitsBefore = await allLogprobs(reference, rows);
      const forward = await trainer.forward(rows);
      const forwardBefore = await trainer.forward(rows, "reference");
      const kl = { coef: 0.3, estimator: "k2" } as const;
      const loss: LossSpec = {
        ...defaultLoss,
        name: "importance_sampling",
        aggregation: "token-sum",
        kl,
        entropyCoef: 0.2,
      };
      const metrics = await trainer.forwardBackward(rows, loss);
      let [sum, entropies, distances, ratios, tokens] = [0, 0, 0, 0, 0];
      for (const [r, row] of rows.entries()) {
        for (let at = promptLength; at < row.tokens.length; at++) {
          const T = row.temperature!;
          const now = tempered(logits[r]![at]!, T);
          const token = row.tokens[at]!;
          const before = tempered(logitsBefore[r]![at]!, T)[token]!;
          expect(forward[r]![at]).toBeCloseTo(now[token]!, 4);
          expect(forwardBefore[r]![at]).toBeCloseTo(before, 4);
          const ratio = Math.exp(now[token]! - row.samplingLogprobs[at]!);
          const distance = (now[token]! - before) ** 2 / 2;
          const entropy = entropyOf(now);
          sum += -ratio * row.advantages[at]! + kl.coef * distance - 0.2 * entropy;
          entropies += entropy;
          distances += distance;
          ratios += ratio;
          tokens += 1;
        }
      }
      expect(metrics["tokens"]).toBe(tokens);
      expect(metrics["entropy"]).toBeCloseTo(entropies / tokens, 4);
      expect(metrics["kl_reference"]! / (distances / tokens)).toBeCloseTo(1, 3);
      expect(metrics["ratio_mean"]! / (ratios / tokens)).toBeCloseTo(1, 3);
      expect(metrics["loss"]! / sum).toBeCloseTo(1, 3);
    },
  );

  it.each(cases)("the gradient is that of this loss: %s", async (_, temperature) => {
    const rows = rowsAt(temperature);
    const loss: LossSpec = { ...defaultLoss, name: "importance_sampling", entropyCoef: 0.2 };
    // All weights: the head's own gradient goes another way than that of the layers below.
    const policy = await smallPolicy();
    const trainer = new PolicyTrainer(policy, options);
    await trainer.forwardBackward(rows, loss);
    const gradients = new Map(
      [...trainer.accumulatedGradients].map(([name, data]) => [name, data.slice()]),
    );
    const before = new Map([...policy.data].map(([name, data]) => [name, data.slice()]));
    const normal = createNormal(createRandom(5));
    const norm = (a: Float32Array): number => Math.sqrt(a.reduce((sum, x) => sum + x * x, 0));
    for (let trial = 0; trial < 3; trial++) {
      const directions = new Map(
        Array.from(gradients, ([name, gradient]) => {
          const random = gradient.map(normal);
          const [g, r] = [norm(gradient), norm(random)];
          return [name, gradient.map((x, i) => x / g + random[i]! / r)];
        }),
      );
      const lossAt = async (distance: number): Promise<number> => {
        await changeWeights(policy, (name, data) => {
          const direction = directions.get(name)!;
          data.set(before.get(name)!.map((x, i) => x + distance * direction[i]!));
        });
        return (await trainer.forwardBackward(rows, loss))["loss"]!;
      };
      const step = 1e-3;
      const numeric = ((await lossAt(step)) - (await lossAt(-step))) / (2 * step);
      const analytic = [...directions].reduce(
        (sum, [name, direction]) =>
          sum + gradients.get(name)!.reduce((dot, x, i) => dot + x * direction[i]!, 0),
        0,
      );
      expect(Math.abs(numeric - analytic)).toBeLessThan(0.002 * Math.abs(analytic));
    }
  });

  it("at temperature 1 numbers are those of rows without one, bit by bit, next to other temperatures too", async () => {
    const run = async (
      rows: readonly TrainingRow[],
    ): Promise<readonly [Float32Array[], Record<string, number>, Map<string, Float32Array>]> => {
      const trainer = new PolicyTrainer(await smallPolicy(), { memoryMiB: 0 });
      const forward = await trainer.forward(rows);
      const metrics = await trainer.forwardBackward(rows, { ...defaultLoss, entropyCoef: 0.1 });
      const gradients = new Map(
        [...trainer.accumulatedGradients].map(([name, data]) => [name, data.slice()]),
      );
      return [forward, metrics, gradients];
    };
    const bare = rowsAt(() => 1).map(withoutTemperature);
    const plain = await run(bare);
    expect(await run(rowsAt(() => 1))).toEqual(plain);
    // A row without a weight in the loss, at another temperature.
    const other = { ...rowsAt(() => 0.5)[0]!, advantages: new Float32Array(lengths[0]!) };
    const [forward] = await run([...rowsAt(() => 1), other]);
    expect(forward.slice(0, bare.length)).toEqual(plain[0]);
  });
});

function withoutTemperature(row: TrainingRow): TrainingRow {
  const { temperature: _, ...rest } = row;
  return rest;
}
