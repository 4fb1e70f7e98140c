/** The embedded engine behind the Fireworks API and in process: the same updates, the same run. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { rowLossOf } from "../../src/core/loss/row-losses.ts";
import { createFireworksBackend } from "../../src/backends/fireworks/index.ts";
import { createLocalBackend } from "../../src/backends/local/index.ts";
import { capabilityMatrix } from "../../src/core/capabilities.ts";
import type { TrainingBackend } from "../../src/core/backend.ts";
import {
  defaultLoss,
  defaultOptim,
  lossAggregations,
  lossNames,
  type LossSpec,
} from "../../src/core/loss/loss.ts";
import type { TrainingRow } from "../../src/core/loss/training-row.ts";
import { updateWithTrainerLoss } from "../../src/trainer/update/trainer-loss.ts";
import { rowOf } from "../engine/small-model.ts";
import { baseModel, key, startFireworks, type LocalFireworks } from "./local-fireworks.ts";
import { fetchOf, modelPath } from "../tinker/local-server.ts";
import { expectClose, run } from "../tinker/shop-run.ts";

let served: LocalFireworks;
beforeAll(async () => {
  served = await startFireworks();
});
afterAll(() => served[Symbol.asyncDispose]());

const viaFireworks = (): TrainingBackend =>
  createFireworksBackend({
    baseUrl: "http://fireworks.test",
    apiKey: key,
    tokenizer: modelPath,
    contextLength: 512,
    client: { fetch: fetchOf(served.server) },
  });

it(
  "computes every loss as the engine does, and steps to the same weights",
  { timeout: 120_000 },
  async () => {
    const still = { ...defaultOptim, learningRate: 0 };
    const context = { seed: 5, signal: new AbortController().signal };
    await using local = createLocalBackend({ threads: 1, precision: "f32" });
    await using remote = viaFireworks();
    await local.start({ ...context, model: { name: modelPath, lora: { rank: 4, alpha: 12 } } });
    await remote.start({ ...context, model: { name: baseModel, lora: { rank: 4, alpha: 12 } } });
    const bare = [12, 30, 21].map((length, r) => {
      const tokens = Int32Array.from({ length }, (_, i) => (i * 31 + r * 17) % 500);
      return rowOf(tokens, 3 + r, { advantage: [1, -0.7, 0.4][r]! });
    });
    const optim = { ...defaultOptim, learningRate: 0.01 };
    for (const backend of [local, remote])
      for (let step = 0; step < 3; step++)
        await backend.updatePolicy(bare, { ...defaultLoss, name: "cross_entropy" }, optim);
    const [now, there] = [
      await local.forward(bare, "current"),
      await remote.forward!(bare, "current"),
    ];
    for (const [r, row] of now.entries())
      for (const [i, value] of row.entries())
        expect(Math.abs(there[r]![i]! - value)).toBeLessThan(1e-4);
    const rows: TrainingRow[] = bare.map((row, r) => ({
      ...row,
      samplingLogprobs: now[r]!.map((l, i) =>
        row.targetMask[i] === 1 ? l - 0.5 * Math.sin(i) : 0,
      ),
    }));
    for (const name of lossNames)
      for (const aggregation of lossAggregations) {
        const loss: LossSpec = { ...defaultLoss, name, aggregation };
        const expected = await local.updatePolicy(rows, loss, still);
        const own = capabilityMatrix.fireworks.losses.includes(name);
        const actual = own
          ? await remote.updatePolicy(rows, loss, still)
          : await updateWithTrainerLoss(
              remote,
              rows,
              {
                spec: { ...loss, name: "importance_sampling" },
                lossOfRole: () => rowLossOf(name, loss),
              },
              still,
            );
        for (const metric of ["loss", "grad_norm"])
          expect(
            Math.abs(actual[metric]! - expected[metric]!),
            `${name} ${aggregation} ${metric}: ${actual[metric]} for ${expected[metric]}`,
          ).toBeLessThan(1e-4 * Math.max(1, Math.abs(expected[metric]!)));
      }
    const kl = { coef: 0.5, estimator: "k3" } as const;
    // At the weights that sampled, where the penalty in the advantages is the penalty itself.
    const fresh = bare.map((row, r) => ({ ...row, samplingLogprobs: now[r]! }));
    const pulled = [local, remote].map((backend) =>
      backend.updatePolicy(fresh, { ...defaultLoss, kl }, still),
    );
    const [a, b] = await Promise.all(pulled);
    for (const metric of ["kl_reference", "grad_norm"])
      expect(b![metric]).toBeCloseTo(a![metric]!, 3);
  },
);

it("gives metrics equal within 1e-4 for ten steps of the shop", async () => {
  const set = { "model.lora_alpha": 12 };
  const inProcess = await run(createLocalBackend({ precision: "f32" }), modelPath, { set });
  const remote = await run(viaFireworks(), baseModel, { set });
  expect(inProcess.metrics).toHaveLength(10);
  expectClose(remote.metrics, inProcess.metrics);
});
