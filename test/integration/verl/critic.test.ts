/** verl's critic on real verl: against plain torch, against the embedded engine, and through a checkpoint. */
import { spawnSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createLocalBackend, type LocalBackend } from "../../../src/backends/local/index.ts";
import type { VerlBackend } from "../../../src/backends/verl/index.ts";
import type { TrainingBackend, UpdateMetrics } from "../../../src/core/backend.ts";
import { defaultOptim, type LossSpec } from "../../../src/core/loss/loss.ts";
import { valueTerm } from "../../../src/core/loss/value-loss.ts";
import type { TrainingRow } from "../../../src/core/loss/training-row.ts";
import { ppo, rowOf } from "../../verl/fake-bridge.ts";
import { modelFolder, python, verlOnCpu } from "./verl-on-cpu.ts";

// With this eps a step is a smooth function of the gradient.
const optim = { ...defaultOptim, learningRate: 0, eps: 1e-3 };
const critic = { learningRate: 2e-3, clip: 0.5, epochs: 3, isWarmup: false };
const sampling = { temperature: 1, topP: 1, topK: 0, maxTokens: 8 };

let verl: VerlBackend;
let local: LocalBackend;
beforeAll(async () => {
  verl = verlOnCpu({ optim, batchSize: 1, groupSize: 4, ...sampling, critic: true });
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

/** Rows of other lengths for two ranks, with returns of both signs; the last is of a role without a critic. */
const bare = [7, 4, 9, 3].map((length, r) =>
  rowOf({
    tokens: Array.from({ length: length + 4 }, (_, i) => (31 * i + 17 * r) % 500),
    logprobs: Array.from({ length }, () => -6),
    advantage: [1, -0.7, 0.4, 0.2][r]!,
  }),
);

const withReturns = (values: readonly Float32Array[]): TrainingRow[] =>
  bare.map((row, r) =>
    r === 3
      ? row
      : {
          ...row,
          values: values[r]!,
          returns: Float32Array.from(row.targetMask, (mask, i) => mask * Math.sin(i + r)),
        },
  );

interface Oracle {
  readonly before: readonly (readonly number[])[];
  readonly after: readonly (readonly number[])[];
  readonly loss: number;
  readonly norm: number;
}

function inTorch(rows: readonly TrainingRow[]): Oracle {
  const input = JSON.stringify({
    rows: rows.map(({ tokens, targetMask, values, returns }) => ({
      tokens: [...tokens],
      mask: [...targetMask],
      values: [...values!],
      returns: [...returns!],
    })),
    // The step of rate 0 that is measured first moves no weights, but it is one of Adam's.
    rates: [0, ...Array.from({ length: critic.epochs }, () => critic.learningRate)],
    clip: critic.clip,
    ...{ betas: [optim.beta1, optim.beta2], eps: optim.eps, max_norm: optim.maxGradNorm },
  });
  const script = join(import.meta.dirname, "python", "critic_oracle.py");
  const { stdout, stderr, status } = spawnSync(python(), [script, modelFolder()], {
    input,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as Oracle;
}

const learn = (
  backend: TrainingBackend,
  rows: readonly TrainingRow[],
  more: Partial<typeof critic> = {},
): Promise<UpdateMetrics> => {
  const loss: LossSpec = { ...ppo, critic: { ...critic, ...more } };
  return backend.updatePolicy(rows, loss, optim);
};

function expectClose(found: ArrayLike<number>, expected: ArrayLike<number>): void {
  for (let i = 0; i < expected.length; i++) {
    expect(Math.abs(found[i]! - expected[i]!), `${i}`).toBeLessThan(1e-3);
  }
}

it("gives 0 until it has learned, measures what the embedded engine does, and learns as plain torch does", async () => {
  const values = await verl.values(bare);
  const rows = withReturns(values);
  const expected = inTorch(rows.slice(0, 3));
  for (const [r, own] of values.entries()) {
    expect([...own].every((value) => value === 0)).toBe(true);
    if (r < 3) expect([...own]).toEqual(expected.before[r]);
  }
  // One step each, before which both give 0.
  const [ofLocal, ofVerl] = [
    await learn(local, rows, { epochs: 1, learningRate: 1e-9 }),
    await learn(verl, rows, { epochs: 1, learningRate: 0 }),
  ];
  for (const [name, value] of Object.entries(ofLocal)) {
    // Their critics have other weights, and so other gradients.
    if (name === "value_grad_norm") continue;
    expect(Math.abs(ofVerl[name]! - value), name).toBeLessThan(1e-3 * Math.max(1, Math.abs(value)));
  }
  expect(ofVerl["value_loss"]).toBeGreaterThan(0.1);

  const logprobs = await verl.forward(bare);
  const folder = mkdtempSync(join(tmpdir(), "agent-trainer-verl-critic-"));
  await verl.saveState(folder);
  const metrics = await learn(verl, rows, { isWarmup: true });
  const after = await verl.values(bare);
  expect(metrics).not.toHaveProperty("loss");
  for (const [name, value] of [
    ["value_loss", expected.loss],
    ["value_grad_norm", expected.norm],
  ] as const) {
    expect(Math.abs(metrics[name]! - value), name).toBeLessThan(1e-3 * value);
  }
  for (const [r, own] of expected.after.entries()) expectClose(after[r]!, own);
  // The policy did not move.
  for (const [r, own] of (await verl.forward(bare)).entries()) expectClose(own, logprobs[r]!);

  await verl.loadState(folder, 0);
  const restored = await verl.values(bare);
  expect(restored.every((own) => own.every((value) => value === 0))).toBe(true);
  expect(await learn(verl, rows, { isWarmup: true })).toEqual(metrics);
  expect(await verl.values(bare)).toEqual(after);
});

it("measures clipped values", async () => {
  const values = await verl.values(bare);
  const far = values.map((own) => own.map((value) => value + 2));
  const rows = withReturns(far);
  const metrics = await learn(verl, rows, { isWarmup: true, epochs: 1, learningRate: 0 });
  const terms = rows
    .slice(0, 3)
    .flatMap(({ targetMask, returns, values: before }, r) =>
      [...targetMask.keys()]
        .filter((i) => targetMask[i] === 1)
        .map((i) => valueTerm(values[r]![i]!, before![i]!, returns![i]!, critic.clip)),
    );
  const clipped = terms.filter(({ isClipped }) => isClipped).length / terms.length;
  expect(clipped).toBeGreaterThan(0.5);
  expect(metrics["value_clip_fraction"]).toBeCloseTo(clipped, 5);
  const mean = terms.reduce((sum, { term }) => sum + term, 0) / terms.length;
  expect(metrics["value_loss"]).toBeCloseTo(mean, 3);
});
