import { describe, expect, it } from "vitest";
import { defaultOptim, type LossSpec } from "../../core/loss/loss.ts";
import {
  adaptedPolicy,
  changeWeights,
  randomTokens,
  rowOf,
  smallConfig,
  smallPolicy,
} from "../../../test/engine/small-model.ts";
import { writeTrained, type Policy } from "../decoder/policy.ts";
import { PolicyTrainer } from "./trainer.ts";

const options = { memoryMiB: 0.5 };
const spec = (name: LossSpec["name"], extra: Partial<LossSpec> = {}): LossSpec => ({
  name,
  epsClip: 0.2,
  epsClipHigh: 0.2,
  aggregation: "token-sum",
  ...extra,
});

/** Rows of different lengths, more than one micro-batch of them, with logprobs near the model's own. */
async function rowsFor(policy: Policy): Promise<ReturnType<typeof rowOf>[]> {
  const bare = [5, 9, 17, 30].map((length, i) => rowOf(randomTokens(i + 1, length), 2));
  const trainer = new PolicyTrainer(policy, options);
  const logprobs = await trainer.forward(bare);
  return bare.map((row, i) =>
    rowOf(row.tokens, 2, {
      logprobs: logprobs[i]!.subarray(2).map((l, k) => l + 0.3 * Math.sin(k + i)),
      advantage: i % 2 === 0 ? 1.5 : -0.7,
    }),
  );
}

/** The loss by its formula, in doubles, from `forward`'s log-probabilities. */
async function lossByHand(
  trainer: PolicyTrainer,
  rows: readonly ReturnType<typeof rowOf>[],
  { name, epsClip, epsClipHigh }: LossSpec,
): Promise<number> {
  const logprobs = await trainer.forward(rows);
  let total = 0;
  for (const [i, row] of rows.entries()) {
    for (let k = 1; k < row.tokens.length; k++) {
      if (row.targetMask[k] !== 1) continue;
      const ratio = Math.exp(logprobs[i]![k]! - row.samplingLogprobs[k]!);
      const advantage = row.advantages[k]!;
      const clipped = Math.min(Math.max(ratio, 1 - epsClip), 1 + epsClipHigh);
      if (name === "cross_entropy") total -= logprobs[i]![k]!;
      else if (name === "importance_sampling") total -= ratio * advantage;
      else total -= Math.min(ratio * advantage, clipped * advantage);
    }
  }
  return total;
}

describe("PolicyTrainer", () => {
  it("entropies are those of the whole vocabulary, also at another temperature", async () => {
    const policy = await smallPolicy();
    const trainer = new PolicyTrainer(policy, options);
    const start = randomTokens(3, 7);
    for (const temperature of [1, 0.5]) {
      const every = Array.from({ length: smallConfig.vocabSize }, (_, id) => ({
        ...rowOf(Int32Array.of(...start, id), 7),
        temperature,
      }));
      const logprobs = (await trainer.forward(every)).map((row) => row[7]!);
      const entropy = -logprobs.reduce((sum, value) => sum + Math.exp(value) * value, 0);
      const row = { ...rowOf(Int32Array.of(...start, 5, 6), 7), temperature };
      const [found] = await trainer.entropies([row]);
      expect(found![7]).toBeCloseTo(entropy, 4);
      expect([...found!.subarray(0, 7)]).toEqual([0, 0, 0, 0, 0, 0, 0]);
      expect(found![8]).toBeGreaterThan(0);
    }
  });

  for (const name of ["cross_entropy", "importance_sampling", "ppo"] as const) {
    for (const lora of [null, { rank: 3, alpha: 6 }]) {
      it(`${name}: loss equals its formula, gradients equal finite differences (${lora === null ? "all weights" : "LoRA"})`, async () => {
        const policy = lora === null ? await smallPolicy() : await adaptedPolicy();
        const rows = await rowsFor(policy);
        const trainer = new PolicyTrainer(policy, options);
        const { loss, tokens } = await trainer.forwardBackward(rows, spec(name));
        expect(tokens).toBe(3 + 7 + 15 + 28);
        expect(loss).toBeCloseTo(await lossByHand(trainer, rows, spec(name)), 3);
        const gradients = trainer.accumulatedGradients;
        let checked = 0;
        for (const { name: parameter } of policy.trained) {
          const weights = policy.data.get(parameter)!;
          const gradient = gradients.get(parameter)!;
          // The steepest element of each parameter: where rounding drowns the difference least.
          const j = gradient.reduce(
            (best, g, i) => (Math.abs(g) > Math.abs(gradient[best]!) ? i : best),
            0,
          );
          const [original, expected] = [weights[j]!, gradient[j]!];
          const step = 2e-3;
          const lossAt = async (value: number): Promise<number> => {
            weights[j] = value;
            await writeTrained(policy, policy.weights);
            return lossByHand(trainer, rows, spec(name));
          };
          const [up, down] = [await lossAt(original + step), await lossAt(original - step)];
          await lossAt(original);
          const numeric = (up - down) / (2 * step);
          expect(Math.abs(numeric - expected), parameter).toBeLessThan(
            0.02 * Math.abs(numeric) + 0.02,
          );
          checked += 1;
        }
        expect(checked).toBe(policy.trained.length);
      });
    }
  }

  it.each([
    ["all weights", null],
    ["LoRA", { rank: 3, alpha: 6 }],
  ])(
    "does not depend on how rows are cut into micro-batches, nor on checkpointed layers (%s)",
    async (_, lora) => {
      const results = [];
      // Nothing fits into the first: one row at a time, with layers computed again.
      for (const memoryMiB of [0, 0.5, 100]) {
        const policy = lora === null ? await smallPolicy() : await adaptedPolicy();
        const rows = await rowsFor(policy);
        const trainer = new PolicyTrainer(policy, { memoryMiB });
        const { loss } = await trainer.forwardBackward(
          rows,
          spec("ppo", { aggregation: "token-mean" }),
        );
        results.push({
          loss: loss!,
          gradients: new Map(
            [...trainer.accumulatedGradients].map(([name, data]) => [name, data.slice()]),
          ),
        });
      }
      for (const { loss, gradients } of results) {
        expect(loss).toBeCloseTo(results[0]!.loss, 5);
        for (const [name, expected] of results[0]!.gradients)
          for (const [i, g] of gradients.get(name)!.entries())
            expect(Math.abs(g - expected[i]!), name).toBeLessThan(2e-5);
      }
    },
  );

  it("gives the same numbers twice", async () => {
    const run = async (): Promise<unknown[]> => {
      const policy = await smallPolicy(null, { threads: 2 });
      const rows = await rowsFor(policy);
      const trainer = new PolicyTrainer(policy, { memoryMiB: 100 });
      const log = [];
      for (let i = 0; i < 3; i++) {
        log.push(
          await trainer.forwardBackward(rows, spec("ppo")),
          await trainer.optimStep({ ...defaultOptim, learningRate: 1e-2 }),
        );
      }
      return log;
    };
    expect(await run()).toEqual(await run());
  });

  it("penalises the distance to the model without its adapter; without a distance there is none", async () => {
    const kl = { coef: 1, estimator: "k2" } as const;
    const policy = await smallPolicy({ rank: 3, alpha: 6 });
    const trainer = new PolicyTrainer(policy, options);
    const rows = await rowsFor(policy);
    const zero = rows.map((row) => ({ ...row, advantages: row.advantages.map(() => 0) }));
    const loss = spec("importance_sampling", { kl });
    expect(await trainer.forwardBackward(zero, loss)).toMatchObject({ loss: 0, kl_reference: 0 });
    const before = await trainer.forward(rows, "reference");
    expect(before).toEqual(await trainer.forward(rows));

    await changeWeights(policy, (name, data) => {
      if (name.includes("lora_B")) data.set(data.map((_, i) => 0.1 * Math.cos(i)));
    });
    expect(await trainer.forward(rows, "reference")).toEqual(before);
    const now = await trainer.forward(rows);
    let byHand = 0;
    for (const [i, row] of now.entries())
      for (const [k, l] of row.entries()) byHand += (l - before[i]![k]!) ** 2 / 2;
    const result = await trainer.forwardBackward(zero, loss);
    expect(result["loss"]).toBeCloseTo(byHand, 3);
    expect(result["kl_reference"]).toBeCloseTo(byHand / result["tokens"]!, 4);
    await trainer.optimStep({ ...defaultOptim, learningRate: 1e-2 });
    expect((await trainer.forwardBackward(zero, loss))["loss"]).toBeLessThan(byHand);
  });

  it("takes the reference of a model without an adapter from where it came from", async () => {
    const policy = await smallPolicy();
    const rows = await rowsFor(policy);
    const loss = spec("ppo", { kl: { coef: 1, estimator: "k3" } });
    const bare = new PolicyTrainer(policy, options);
    await expect(bare.forwardBackward(rows, loss)).rejects.toMatchObject({
      code: "CONFIG_INVALID",
    });
    const trainer = new PolicyTrainer(policy, {
      ...options,
      loadReference: async () => (await smallPolicy()).weights,
    });
    const before = await trainer.forward(rows);
    expect(await trainer.forwardBackward(rows, loss)).toMatchObject({ kl_reference: 0 });
    await trainer.optimStep({ ...defaultOptim, learningRate: 1e-2 });
    expect(await trainer.forward(rows, "reference")).toEqual(before);
    expect((await trainer.forwardBackward(rows, loss))["kl_reference"]).toBeGreaterThan(0);
  });

  it("an entropy bonus makes the distribution flatter, a negative one sharper", async () => {
    const change = async (entropyCoef: number): Promise<number> => {
      const trainer = new PolicyTrainer(await smallPolicy(), options);
      const rows = [rowOf(randomTokens(1, 20), 1, { advantage: 0 })];
      const loss = spec("importance_sampling", { entropyCoef, aggregation: "token-mean" });
      const first = await trainer.forwardBackward(rows, loss);
      expect(first["loss"]).toBeCloseTo(-entropyCoef * first["entropy"]!, 5);
      await trainer.optimStep({ ...defaultOptim, learningRate: 1e-3 });
      const second = await trainer.forwardBackward(rows, loss);
      return second["entropy"]! - first["entropy"]!;
    };
    expect(await change(0.1)).toBeGreaterThan(0);
    expect(await change(-0.1)).toBeLessThan(0);
  });

  it("learns: cross-entropy on one sequence falls", async () => {
    const trainer = new PolicyTrainer(await smallPolicy(), options);
    const rows = [rowOf(randomTokens(1, 20), 1)];
    const losses = [];
    for (let i = 0; i < 25; i++) {
      losses.push(
        (await trainer.forwardBackward(rows, spec("cross_entropy", { aggregation: "token-mean" })))[
          "loss"
        ]!,
      );
      await trainer.optimStep({ ...defaultOptim, learningRate: 1e-2 });
    }
    expect(losses.at(-1)!).toBeLessThan(losses[0]! / 4);
  });

  it("has an untied head of its own where the model has one", async () => {
    const policy = await smallPolicy(null, { config: { ...smallConfig, tiedEmbeddings: false } });
    const trainer = new PolicyTrainer(policy, options);
    await trainer.forwardBackward(await rowsFor(policy), spec("cross_entropy"));
    expect(Math.max(...trainer.accumulatedGradients.get("lm_head.weight")!)).toBeGreaterThan(0);
  });

  it("stops at a loss that is not finite and keeps the weights", async () => {
    const policy = await smallPolicy();
    const before = policy.data.get("model.norm.weight")!.slice();
    const trainer = new PolicyTrainer(policy, options);
    const rows = [rowOf(randomTokens(1, 9), 2, { advantage: Infinity })];
    await expect(trainer.forwardBackward(rows, spec("ppo"))).rejects.toMatchObject({
      code: "NUMERICS",
    });
    expect(await trainer.optimStep(defaultOptim)).toEqual({ grad_norm: 0 });
    expect(policy.data.get("model.norm.weight")).toEqual(before);
  });

  it("refuses rows with ids that the model does not have, by name, and stays as it was", async () => {
    const policy = await smallPolicy();
    const rows = await rowsFor(policy);
    const trainer = new PolicyTrainer(policy, options);
    const expected = await trainer.forwardBackward(rows, spec("ppo"));
    const before = new Map(
      [...trainer.accumulatedGradients].map(([name, data]) => [name, data.slice()]),
    );
    for (const id of [smallConfig.vocabSize, -1]) {
      const stray = { ...rows[2]!, tokens: rows[2]!.tokens.with(5, id) };
      const refusal = {
        code: "REQUEST_INVALID",
        message: expect.stringContaining(
          `Training row 1 (task "t", episode "e") has the token id ${id} at position 5`,
        ),
        fields: { position: 5, id, vocabSize: smallConfig.vocabSize },
      };
      await expect(trainer.forward([rows[0]!, stray])).rejects.toMatchObject(refusal);
      const both = trainer.forwardBackward([rows[0]!, stray], spec("ppo"));
      await expect(both).rejects.toMatchObject(refusal);
    }
    expect(trainer.accumulatedGradients).toEqual(before);
    await trainer.optimStep({ ...defaultOptim, learningRate: 0 });
    expect(await trainer.forwardBackward(rows, spec("ppo"))).toEqual(expected);
  });
});
