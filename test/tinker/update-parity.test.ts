/** One update, in process and through a Tinker server: the same numbers for every loss and aggregation. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { createLocalBackend } from "../../src/backends/local/index.ts";
import { createTinkerBackend } from "../../src/backends/tinker/index.ts";
import { capabilityMatrix } from "../../src/core/capabilities.ts";
import type { TrainingBackend } from "../../src/core/backend.ts";
import {
  defaultLoss,
  defaultOptim,
  klEstimators,
  lossAggregations,
  type LossSpec,
} from "../../src/core/loss/loss.ts";
import type { TrainingRow } from "../../src/core/loss/training-row.ts";
import { rowLossOf } from "../../src/core/loss/row-losses.ts";
import { updateWithTrainerLoss } from "../../src/trainer/update/trainer-loss.ts";
import { rowOf } from "../engine/small-model.ts";
import { fetchOf, modelPath, startServer, token, type LocalServer } from "./local-server.ts";

const still = { ...defaultOptim, learningRate: 0 };
const lengths = [12, 30, 21];

let served: LocalServer;
let local: ReturnType<typeof createLocalBackend>;
let remote: ReturnType<typeof createTinkerBackend>;
/** As the weights give them now. */
let onPolicy: readonly TrainingRow[];
/** As other weights would have: ratios on both sides of the bounds. */
let offPolicy: readonly TrainingRow[];

/** Of trained tokens; half of the last row counts double, a third of them not at all. */
function weightsOf(row: TrainingRow, index: number): Float32Array {
  return row.advantages.map((_, i) => (index === 2 ? [2, 1, 0][i % 3]! : 1));
}

beforeAll(async () => {
  served = await startServer();
  local = createLocalBackend({ threads: 1, precision: "f32" });
  remote = createTinkerBackend({
    baseUrl: "http://tinker.test",
    apiKey: token,
    tokenizer: modelPath,
    client: { fetch: fetchOf(served.server) },
  });
  const context = { seed: 5, signal: new AbortController().signal };
  const lora = { rank: 4, alpha: 32 };
  await local.start({ ...context, model: { name: modelPath, lora } });
  await remote.start({ ...context, model: { name: "shop-tiny", lora } });
  const bare = lengths.map((length, r) => {
    const tokens = Int32Array.from({ length }, (_, i) => (i * 31 + r * 17) % 500);
    const row = rowOf(tokens, 3 + r, { advantage: [1, -0.7, 0.4][r]! });
    return { ...row, weights: weightsOf(row, r) };
  });
  // Away from the reference, so that a penalty has something to pull at.
  for (const backend of [local, remote])
    for (let step = 0; step < 3; step++)
      await backend.updatePolicy(
        bare,
        { ...defaultLoss, name: "cross_entropy" },
        { ...defaultOptim, learningRate: 0.01 },
      );
  const now = await local.forward(bare);
  onPolicy = bare.map((row, r) => ({ ...row, samplingLogprobs: now[r]! }));
  offPolicy = onPolicy.map((row) => ({
    ...row,
    samplingLogprobs: row.samplingLogprobs.map((l, i) => l - 0.5 * Math.sin(i)),
  }));
});
afterAll(async () => {
  await local[Symbol.asyncDispose]();
  await remote[Symbol.asyncDispose]();
  await served[Symbol.asyncDispose]();
});

async function expectSame(rows: readonly TrainingRow[], loss: LossSpec, names?: readonly string[]) {
  const update = (backend: TrainingBackend) => backend.updatePolicy(rows, loss, still);
  const [expected, actual] = await Promise.all([update(local), update(remote)]);
  for (const name of names ?? Object.keys(expected)) {
    const value = expected[name]!;
    const bound = 1e-4 * Math.max(1, Math.abs(value));
    expect(Math.abs(actual[name]! - value), `${name}: ${actual[name]} for ${value}`).toBeLessThan(
      bound,
    );
  }
  expect(expected["grad_norm"]).toBeGreaterThan(0);
}

const cases = capabilityMatrix.tinker.losses.flatMap((name) =>
  lossAggregations.map((aggregation) => ({ name, aggregation })),
);

it.each(cases)("has the numbers of $name with $aggregation", async ({ name, aggregation }) => {
  await expectSame(offPolicy, { ...defaultLoss, name, aggregation, epsClipHigh: 0.28 });
});

it.each(klEstimators)(
  "has the gradient of a KL penalty by %s, weights of 0 included",
  async (k) => {
    const loss: LossSpec = { ...defaultLoss, kl: { coef: 0.7, estimator: k } };
    await expectSame(onPolicy, loss, ["grad_norm", "kl_reference", "clip_fraction"]);
  },
);

it("has the gradient of a KL penalty in supervised learning, too", async () => {
  const kl = { coef: 0.7, estimator: "k3" } as const;
  await expectSame(onPolicy, { ...defaultLoss, name: "cross_entropy", kl }, ["grad_norm"]);
});

it.each([
  ["gspo", {}],
  ["gmpo", {}],
  ["sapo", {}],
  ["ppo", { dualClip: 1.2 }],
] as const)("has the numbers of %s, which servers do not have: by slopes", async (name, extra) => {
  const spec: LossSpec = { ...defaultLoss, name, aggregation: "seq-mean-token-mean", ...extra };
  const expected = await local.updatePolicy(offPolicy, spec, still);
  const lossOfRole = () => rowLossOf(name, spec);
  const actual = await updateWithTrainerLoss(remote, offPolicy, { spec, lossOfRole }, still);
  for (const key of Object.keys(expected)) expect(actual[key], key).toBeCloseTo(expected[key]!, 4);
});

it("knows the log-probabilities of the policy and of the reference", async () => {
  for (const which of ["current", "reference"] as const) {
    const expected = await local.forward(onPolicy, which);
    const actual = await remote.forward(onPolicy, which);
    const distances = onPolicy.flatMap(({ targetMask }, r) =>
      [...targetMask].map((target, i) => target * Math.abs(actual[r]![i]! - expected[r]![i]!)),
    );
    expect(Math.max(...distances)).toBeLessThan(1e-4);
  }
});
