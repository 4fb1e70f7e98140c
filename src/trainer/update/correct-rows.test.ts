import { describe, expect, it } from "vitest";
import type { TrainingRow } from "../../core/loss/training-row.ts";
import type { RolloutCorrectionOptions } from "../../config/train-config.ts";
import { correctRows } from "./correct-rows.ts";

// A prompt of two tokens, then verl's fixture, whose third row has an observation in the middle.
const masks = [
  [0, 0, 1, 1, 1],
  [0, 0, 1, 1],
  [0, 0, 1, 0, 1, 1],
];
const rollout = [
  [0, 0, -1.1, -1.5, -0.5],
  [0, 0, -0.9, -3],
  [0, 0, -1, 0, -0.45, -0.2],
];
const old = [
  [0, 0, -1, -2, -0.5],
  [0, 0, -0.3, -1.2],
  [0, 0, -2, 0, -0.4, -1],
];

const rows = masks.map((mask, r): TrainingRow => ({
  tokens: Int32Array.from(mask, (_, i) => i),
  targetMask: Uint8Array.from(mask),
  samplingLogprobs: Float32Array.from(rollout[r]!),
  advantages: Float32Array.from(mask, (trained) => trained * (r + 1)),
  segments: [],
  provenance: {
    taskId: "t",
    episodeId: `e${r}`,
    rolloutIndex: r,
    trajectoryUid: "u",
    trajectoryName: "agent",
  },
}));
const forward = async (): Promise<Float32Array[]> => old.map((row) => Float32Array.from(row));

const off: RolloutCorrectionOptions = {
  type: "none",
  reject: [],
  rolloutTokenVetoThreshold: null,
};
const weighted = { ...off, type: "token", cap: 2, batchNormalize: false } as const;

const rounded = (values: Float32Array | undefined): number[] =>
  Array.from(values ?? [], (value) => Number(value.toFixed(5)));

describe("correctRows", () => {
  it("asks for nothing where nothing is on", async () => {
    const never = () => Promise.reject(new Error("asked"));
    expect(await correctRows(rows, never, off)).toEqual({ rows, metrics: {} });
  });

  it("gives rows that lack log-probabilities the trainer's, and asks for no others", async () => {
    const asked: number[] = [];
    const lacking = rows.map((row, r) => (r === 1 ? { ...row, lacksSamplingLogprobs: true } : row));
    const { rows: corrected, metrics } = await correctRows(
      lacking,
      async (some) => {
        asked.push(...some.map((row) => lacking.indexOf(row)));
        return [Float32Array.from(old[1]!)];
      },
      off,
    );
    expect(asked).toEqual([1]);
    expect(corrected.map((row) => rounded(row.samplingLogprobs))).toEqual([
      rollout[0],
      old[1],
      rollout[2],
    ]);
    expect(corrected[1]).not.toHaveProperty("lacksSamplingLogprobs");
    expect(metrics).toEqual({});
  });

  it("where it corrects, a row that lacks them weighs 1, is not rejected and not measured", async () => {
    const lacking = rows.map((row, r) => (r === 0 ? row : { ...row, lacksSamplingLogprobs: true }));
    const options = { ...weighted, rolloutTokenVetoThreshold: 0.5 };
    const { rows: corrected, metrics } = await correctRows(lacking, forward, options);
    expect(corrected.map((row) => rounded(row.samplingLogprobs))).toEqual(old);
    expect(corrected.map((row) => rounded(row.weights))).toEqual([
      [0, 0, 1.10517, 0.60653, 1],
      [0, 0, 1, 1],
      [0, 0, 1, 0, 1, 1],
    ]);
    // As of the first row alone.
    const alone = await correctRows(rows.slice(0, 1), async () => [Float32Array.from(old[0]!)], {
      ...weighted,
    });
    expect(metrics["off_policy/kl_k3"]).toBe(alone.metrics["off_policy/kl_k3"]);
  });

  it("takes ratios to the trainer, and weighs tokens by how far the sampler was away", async () => {
    const { rows: corrected, metrics } = await correctRows(rows, forward, {
      ...weighted,
    });
    expect(corrected.map((row) => rounded(row.samplingLogprobs))).toEqual(old);
    expect(corrected.map((row) => rounded(row.weights))).toEqual([
      [0, 0, 1.10517, 0.60653, 1],
      [0, 0, 1.82212, 2],
      [0, 0, 0.36788, 0, 1.05127, 0.44933],
    ]);
    expect(metrics["rollout_correction/rollout_is_mean"]).toBeCloseTo(1.050287, 5.6);
    expect(metrics["off_policy/kl_k1"]).toBeCloseTo(-0.03125, 5.6);
    // What was captured stays as it was.
    expect(rows.map((row) => rounded(row.samplingLogprobs))).toEqual(rollout);
  });

  it("multiplies weights that rows already have", async () => {
    const given = rows.map((row) => ({
      ...row,
      weights: Float32Array.from(row.targetMask, (trained) => trained * 0.5),
    }));
    const { rows: corrected } = await correctRows(given, forward, weighted);
    expect(rounded(corrected[1]?.weights)).toEqual([0, 0, 0.91106, 1]);
  });

  it("recomputes without weighing when that is all that is asked for", async () => {
    const { rows: corrected } = await correctRows(rows, forward, { ...off, type: "recompute" });
    expect(corrected.map((row) => rounded(row.samplingLogprobs))).toEqual(old);
    expect(corrected.every((row) => row.weights === undefined)).toBe(true);
  });

  it("rejects tokens without recomputing, whose ratios stay those to the sampler", async () => {
    const { rows: corrected, metrics } = await correctRows(rows, forward, {
      ...off,
      reject: ["token_k1=0.5_2.0"],
    });
    expect(corrected.map((row) => [...row.targetMask])).toEqual([
      [0, 0, 1, 1, 1],
      [0, 0, 1, 0],
      [0, 0, 0, 0, 1, 0],
    ]);
    expect(rounded(corrected[1]?.samplingLogprobs)).toEqual([0, 0, -0.9, 0]);
    expect([...corrected[1]!.advantages]).toEqual([0, 0, 2, 0]);
    expect(metrics["rollout_correction/rollout_rs_masked_fraction"]).toBeCloseTo(3 / 8, 12);
  });

  it("leaves rows out that are rejected whole", async () => {
    const { rows: corrected } = await correctRows(rows, forward, {
      ...off,
      rolloutTokenVetoThreshold: 0.4,
    });
    expect(corrected.map((row) => row.provenance.episodeId)).toEqual(["e0", "e1"]);
  });
});
