/** Learning from observations against torch (`scripts/fixtures/make_echo.py`), and what it leaves alone. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { messageOfRows, rowsOfMessage } from "../../src/backends/local/row-message.ts";
import type { LossSpec } from "../../src/core/loss/loss.ts";
import type { TrainingRow } from "../../src/core/loss/training-row.ts";
import { loadPolicy, type Policy } from "../../src/engine/decoder/policy.ts";
import { Device } from "../../src/engine/tensor/device.ts";
import { PolicyTrainer } from "../../src/engine/training/trainer.ts";
import {
  type ExpectedGradient,
  familyFixture,
  gradientDistance,
} from "./families/family-fixtures.ts";
import { rowOf } from "./small-model.ts";

interface Golden {
  readonly temperature: number;
  readonly clip: number;
  readonly rows: readonly {
    readonly tokens: readonly number[];
    readonly sampled: readonly number[];
    readonly sampling: readonly number[];
    readonly weights: readonly number[];
    readonly advantage: number;
  }[];
  readonly loss: number;
  readonly observed: { readonly tokens: number; readonly loss: number };
  readonly gradients: Readonly<Record<string, ExpectedGradient>>;
}
const file = new URL("echo-golden.json", import.meta.url);
const golden = JSON.parse(readFileSync(file, "utf8")) as Golden;

const spec: LossSpec = {
  name: "ppo",
  epsClip: golden.clip,
  epsClipHigh: golden.clip,
  aggregation: "token-mean",
};

const rows = golden.rows.map((given): TrainingRow => ({
  ...rowOf(Int32Array.from(given.tokens), given.tokens.length),
  temperature: golden.temperature,
  targetMask: Uint8Array.from(given.sampled),
  samplingLogprobs: Float32Array.from(given.sampling),
  advantages: Float32Array.from(given.sampled, (mask) => mask * given.advantage),
  observationWeights: Float32Array.from(given.weights),
}));

const load = (): Promise<Policy> =>
  loadPolicy(familyFixture("qwen2").folder, {
    device: new Device({ threads: 1 }),
    lora: null,
    seed: 1,
    precision: "f32",
  });

async function gradientsOf(given: readonly TrainingRow[], memoryMiB = 100) {
  const trainer = new PolicyTrainer(await load(), { memoryMiB });
  const metrics = await trainer.forwardBackward(given, spec);
  const copied = Array.from(trainer.accumulatedGradients, ([name, data]) => [name, data.slice()]);
  return { metrics, gradients: new Map(copied as [string, Float32Array][]) };
}

describe("the loss on observations", () => {
  it("has torch's value and gradients", async () => {
    const { metrics, gradients } = await gradientsOf(rows);
    expect(metrics["loss"]).toBeCloseTo(golden.loss, 5);
    expect(metrics["observation_loss"]).toBeCloseTo(golden.observed.loss, 4);
    expect(metrics["observation_tokens"]).toBe(golden.observed.tokens);
    expect([...gradients.keys()].toSorted()).toEqual(Object.keys(golden.gradients).toSorted());
    for (const [name, theirs] of Object.entries(golden.gradients))
      expect(gradientDistance(gradients.get(name)!, theirs), name).toBeLessThan(1e-5);
  });

  it("is the same where layers are recomputed, and after rows went to another thread", async () => {
    const plain = await gradientsOf(rows);
    const sent = await gradientsOf(rowsOfMessage(messageOfRows(rows)));
    expect(sent).toEqual(plain);
    const { gradients } = await gradientsOf(rows, 0);
    for (const [name, theirs] of Object.entries(golden.gradients))
      expect(gradientDistance(gradients.get(name)!, theirs), name).toBeLessThan(1e-5);
  });

  it("changes neither log-probabilities nor the bits of an update without it", async () => {
    const trainer = new PolicyTrainer(await load(), { memoryMiB: 100 });
    const bare = rows.map((row) => {
      const { observationWeights: _, ...rest } = row;
      return rest;
    });
    expect(await trainer.forward(rows)).toEqual(await trainer.forward(bare));
    const unweighted = bare.map((row) => ({
      ...row,
      observationWeights: new Float32Array(row.tokens.length),
    }));
    expect(await gradientsOf(unweighted)).toEqual(await gradientsOf(bare));
  });

  it("teaches a row without a trained token", async () => {
    const { metrics, gradients } = await gradientsOf(rows.slice(3));
    expect(metrics).toMatchObject({ tokens: 0, observation_tokens: 9 });
    expect([...gradients.values()].some((values) => values.some((value) => value !== 0))).toBe(
      true,
    );
  });
});
