/** One step of real verl against one of our own engine, on the same rows and weights. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createLocalBackend, type LocalBackend } from "../../../src/backends/local/index.ts";
import { toRowLoss } from "../../../src/algorithms/losses/loss-function.ts";
import type { VerlBackend } from "../../../src/backends/verl/index.ts";
import type { TrainingBackend, UpdateMetrics } from "../../../src/core/backend.ts";
import { defaultOptim, type LossSpec } from "../../../src/core/loss/loss.ts";
import type { TrainingRow } from "../../../src/core/loss/training-row.ts";
import { updateWithTrainerLoss } from "../../../src/trainer/update/trainer-loss.ts";
import { createRandom } from "../../../src/util/random.ts";
import { rowOf } from "../../verl/fake-bridge.ts";
import { areAlive, descendants } from "./processes.ts";
import { modelFolder, verlOnCpu } from "./verl-on-cpu.ts";

// A rate of 0: every case begins with the same weights. With this eps a step is a smooth function of the
// gradient, so that both engines are in the same place after it.
const optim = { ...defaultOptim, learningRate: 0, eps: 1e-3 };

let verl: VerlBackend;
let local: LocalBackend;
beforeAll(async () => {
  verl = verlOnCpu({
    optim,
    batchSize: 1,
    groupSize: 7,
    temperature: 1,
    topP: 1,
    topK: 0,
    maxTokens: 8,
    reference: true,
  });
  local = createLocalBackend({ precision: "f32" });
  const run = {
    seed: 0,
    model: { name: modelFolder(), lora: null },
    signal: new AbortController().signal,
  };
  await local.start(run);
  await verl.start(run);
});
afterAll(async () => {
  await Promise.all([verl?.[Symbol.asyncDispose](), local?.[Symbol.asyncDispose]()]);
});

/** Seven rows of other lengths for two ranks: one has an observation inside, one has weights. */
async function makeRows(): Promise<TrainingRow[]> {
  const random = createRandom(7);
  const ids = (count: number): number[] =>
    Array.from({ length: count }, () => Math.floor(random() * 500));
  const rows = [9, 4, 12, 6, 3, 15, 5].map((length, i) =>
    rowOf({
      tokens: ids(length + 5),
      logprobs: Array.from({ length }, () => -6),
      advantage: [1.5, -0.7, 0.4, -1.2, 2, 0.9, -0.3][i] as number,
    }),
  );
  const [first, , third] = rows as [TrainingRow, TrainingRow, TrainingRow];
  for (const at of [8, 9]) {
    first.targetMask[at] = 0;
    first.samplingLogprobs[at] = 0;
    first.advantages[at] = 0;
  }
  rows[2] = { ...third, weights: Float32Array.from(third.tokens, () => 0.5 + random()) };
  // Off by up to 0.4, so that some ratios are clipped.
  const now = await local.forward(rows);
  return rows.map((row, i) => ({
    ...row,
    samplingLogprobs: row.samplingLogprobs.map((_, at) =>
      row.targetMask[at] === 1 ? (now[i]?.[at] as number) + 0.8 * (random() - 0.5) : 0,
    ),
  }));
}

const ppo: LossSpec = { name: "ppo", epsClip: 0.2, epsClipHigh: 0.28, aggregation: "token-mean" };

const rowMeans = { aggregation: "seq-mean-token-mean" } as const;

const cases: readonly LossSpec[] = [
  ppo,
  { ...ppo, ...rowMeans, dualClip: 1.1 },
  { ...ppo, aggregation: "seq-mean-token-sum-norm", aggregationLength: 20 },
  { ...ppo, name: "importance_sampling", aggregation: "seq-mean-token-sum" },
  { ...ppo, name: "cispo", aggregation: "token-sum" },
  { ...ppo, ...rowMeans, name: "gspo" },
  { ...ppo, name: "gspo" },
  { ...ppo, ...rowMeans, name: "gmpo" },
  { ...ppo, ...rowMeans, name: "sapo", sapoTauNegative: 1.5 },
  { ...ppo, name: "dro", droBeta: 0.3 },
  { ...ppo, name: "cross_entropy" },
  { ...ppo, ...rowMeans, entropyCoef: 0.3 },
];

const penalties: readonly LossSpec[] = [
  { ...ppo, kl: { coef: 0.7, estimator: "k1" } },
  { ...ppo, aggregation: "seq-mean-token-sum", kl: { coef: 0.7, estimator: "k2" } },
  { ...ppo, ...rowMeans, kl: { coef: 0.7, estimator: "k3" } },
  { ...ppo, name: "cispo", kl: { coef: 0.2, estimator: "k3" }, entropyCoef: 0.1 },
  // Measured, not penalised.
  { ...ppo, kl: { coef: 0, estimator: "k3" } },
];

/** Both measure the same: what the limits of a run are held against, too. */
async function expectSame(rows: readonly TrainingRow[], loss: LossSpec): Promise<void> {
  const theirs = await verl.updatePolicy(rows, loss, optim);
  const ours = await local.updatePolicy(rows, loss, optim);
  expectNear(theirs, ours);
}

function expectNear(theirs: UpdateMetrics, ours: UpdateMetrics): void {
  for (const [name, b] of Object.entries(ours)) {
    const a = theirs[name] as number;
    expect(Math.abs(a - b), `${name}: verl ${a}, local ${b}`).toBeLessThan(
      1e-3 * Math.max(1, Math.abs(b)),
    );
  }
  expect(theirs["tokens"]).toBe(ours["tokens"]);
}

const describeLoss = (loss: LossSpec): readonly [string, LossSpec] => [
  [
    loss.name,
    loss.aggregation,
    ...(loss.kl ? [`${loss.kl.coef} ${loss.kl.estimator}`] : []),
    ...(loss.entropyCoef ? [`${loss.entropyCoef} entropy`] : []),
  ].join(", "),
  loss,
];

describe("verl on two ranks and the embedded engine", () => {
  it("give tokens the same log-probabilities", async () => {
    const rows = await makeRows();
    const [theirs, ours] = await Promise.all([verl.forward(rows), local.forward(rows)]);
    for (const [i, row] of ours.entries()) {
      for (const [at, value] of row.entries()) expect(theirs[i]?.[at]).toBeCloseTo(value, 4);
    }
  });

  it.each(cases.map(describeLoss))("have the same loss and gradient: %s", async (_, loss) => {
    await expectSame(await makeRows(), loss);
  });

  it.each([
    ["one for all", [0.7]],
    ["others for each row", [0.5, 1, 1.3]],
  ])("divide logits by the temperature of a row: %s", async (_, temperatures) => {
    const rows = (await makeRows()).map((row, i) => ({
      ...row,
      temperature: temperatures[i % temperatures.length]!,
    }));
    const [theirs, ours] = await Promise.all([verl.forward(rows), local.forward(rows)]);
    for (const [i, row] of ours.entries()) {
      for (const [at, value] of row.entries()) expect(theirs[i]?.[at]).toBeCloseTo(value, 4);
    }
    const kl = { coef: 0.7, estimator: "k3" } as const;
    await expectSame(rows, { ...ppo, name: "importance_sampling", kl, entropyCoef: 0.3 });
  });

  it("have the same loss and gradient with a formula of the user, by slopes", async () => {
    const rows = await makeRows();
    const spec: LossSpec = { ...ppo, ...rowMeans };
    const lossOfRole = () =>
      toRowLoss(
        ({ logprob, samplingLogprob, advantage }) =>
          -Math.exp(logprob - samplingLogprob) * advantage + 0.1 * (logprob - samplingLogprob) ** 2,
      );
    const update = (backend: TrainingBackend) =>
      updateWithTrainerLoss(backend, rows, { spec, lossOfRole }, optim);
    expectNear(await update(verl), await update(local));
  });
});

describe("after a step away from the reference", () => {
  const before: (readonly Float32Array[])[] = [];
  beforeAll(async () => {
    const rows = await makeRows();
    before.push(await verl.forward(rows));
    const away = { ...optim, learningRate: 0.02 };
    await Promise.all([verl.updatePolicy(rows, ppo, away), local.updatePolicy(rows, ppo, away)]);
  });

  it("the reference is the model as it was loaded", async () => {
    const rows = await makeRows();
    const [reference, ours] = await Promise.all([
      verl.forward(rows, "reference"),
      local.forward(rows, "reference"),
    ]);
    let moved = 0;
    const now = await verl.forward(rows);
    for (const [i, row] of reference.entries()) {
      for (const [at, value] of row.entries()) {
        expect(value).toBeCloseTo(before[0]?.[i]?.[at] as number, 5);
        expect(value).toBeCloseTo(ours[i]?.[at] as number, 4);
        moved = Math.max(moved, Math.abs(value - (now[i]?.[at] as number)));
      }
    }
    expect(moved).toBeGreaterThan(0.1);
  });

  it.each(penalties.map(describeLoss))("both penalise alike: %s", async (_, loss) => {
    await expectSame(await makeRows(), loss);
  });
});

it.runIf(process.platform === "linux")("leaves no process behind when it ends", async () => {
  const started = [verl.pid as number, ...descendants(verl.pid as number)];
  // Ray's own, two workers and two servers.
  expect(started.length).toBeGreaterThan(5);
  await verl[Symbol.asyncDispose]();
  expect(areAlive(started)).toEqual([]);
});
