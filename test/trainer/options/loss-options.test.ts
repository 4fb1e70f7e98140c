/** Numbers of losses: from the options to what each backend, or the trainer in its place, computes with. */
import { describe, expect, it } from "vitest";
import type { LossRow } from "../../../src/core/loss/row-loss.ts";
import { datumLoss } from "../../../src/backends/datum/losses.ts";
import { encodeLoss } from "../../../src/backends/verl/row-wire.ts";
import { rowFactors } from "../../../src/core/loss/aggregation.ts";
import type { LossSpec } from "../../../src/core/loss/loss.ts";
import { runObjective } from "../../engine/run-objective.ts";
import { loadConfig } from "../../../src/config/load.ts";
import type { TrainConfig } from "../../../src/config/train-config.ts";
import { lossOf, planLoss } from "../../../src/trainer/update/update-spec.ts";
import { allCapabilities } from "../coin-backend.ts";

const configOf = (...overrides: readonly string[]): TrainConfig =>
  loadConfig({ overrides: ["model.name=m", ...overrides] }).config;
const specOf = (...overrides: readonly string[]): LossSpec => lossOf(configOf(...overrides));
const token = (logRatio: number, advantage: number): LossRow => ({
  role: "judge",
  logprobs: Float64Array.of(-1),
  samplingLogprobs: Float64Array.of(-1 - logRatio),
  advantages: Float64Array.of(advantage),
  weights: Float64Array.of(1),
});

describe("algorithm.loss.eps_clip", () => {
  it.each([
    ["is each loss's own by default", [], 0.2, 0.2],
    ["is the paper's for gspo", ["algorithm.loss=gspo"], 3e-4, 4e-4],
    ["wins over it", ["algorithm.loss=gspo", "algorithm.loss.eps_clip=0.1"], 0.1, 0.1],
    ["may be left to the loss", ["algorithm.loss=gspo", "algorithm.loss.eps_clip_high=1"], 3e-4, 1],
    [
      "has another upper bound",
      ["algorithm.loss.eps_clip=0.1", "algorithm.loss.eps_clip_high=0.3"],
      0.1,
      0.3,
    ],
  ] as const)("%s", (_, overrides, epsClip, epsClipHigh) => {
    expect(specOf(...overrides)).toMatchObject({ epsClip, epsClipHigh });
  });

  it("is that of the role's loss where roles have different ones", () => {
    const config = configOf("algorithm.loss_by_role={judge: gspo}");
    const { byRole } = planLoss(config, { ...allCapabilities, forward: true }, new Map());
    // A ratio of exp(0.1) is beyond gspo's 1 + 4e-4, and within ppo's 1.2.
    expect(byRole!("judge")(token(0.1, 1)).terms[0]).toBeCloseTo(-1.0004, 12);
    expect(byRole!("solver")(token(0.1, 1)).terms[0]).toBeCloseTo(-Math.exp(0.1), 12);
  });
});

describe("constants of losses", () => {
  const sapo = ["algorithm.loss=sapo", "algorithm.loss.tau_pos=2", "algorithm.loss.tau_neg=0.5"];
  const dro = ["algorithm.loss=dro", "algorithm.loss.beta=0.3"];

  it("reach the embedded engine", () => {
    const gate = (tau: number, ratio: number): number =>
      4 / tau / (1 + Math.exp(-tau * (ratio - 1)));
    const objective = (spec: LossSpec, advantage: number): number =>
      runObjective({ now: [[0.7]], sampled: [[0]], advantages: [advantage] }, spec).loss;
    const ratio = Math.exp(0.7);
    expect(objective(specOf(...sapo), 1)).toBeCloseTo(-gate(2, ratio), 12);
    expect(objective(specOf(...sapo), -1)).toBeCloseTo(gate(0.5, ratio), 12);
    expect(objective(specOf(...dro), 1)).toBeCloseTo(-0.7 + (0.3 / 2) * 0.7 ** 2, 6);
  });
  it("reach verl's workers", () => {
    expect(encodeLoss(specOf(...sapo))).toMatchObject({
      sapo_tau_positive: 2,
      sapo_tau_negative: 0.5,
    });
    expect(encodeLoss(specOf(...dro))).toMatchObject({ dro_beta: 0.3 });
  });
  it("reach a Tinker server, or the trainer in its place", () => {
    expect(datumLoss("tinker", specOf(...dro)).config).toEqual({ beta: 0.3 });
    const capabilities = { ...allCapabilities, forward: true, losses: ["importance_sampling"] };
    const { byRole } = planLoss(configOf(...sapo), capabilities as never, new Map());
    const gate = (tau: number, ratio: number): number =>
      4 / tau / (1 + Math.exp(-tau * (ratio - 1)));
    const ratio = Math.exp(0.7);
    expect(byRole!("judge")(token(0.7, 1)).terms[0]).toBeCloseTo(-gate(2, ratio), 12);
    expect(byRole!("judge")(token(0.7, -1)).terms[0]).toBeCloseTo(gate(0.5, ratio), 12);
  });
  it.each([
    ["aggregation", "seq-mean-token-sum-norm", "length"],
    ["loss", "dro", "beta"],
    ["loss", "sapo", "tau_pos"],
    ["loss", "sapo", "tau_neg"],
  ])("algorithm.%s of %s: %s must be above 0", (option, type, name) => {
    const load = () => configOf(`algorithm.${option}=${type}`, `algorithm.${option}.${name}=0`);
    expect(load).toThrow(`algorithm.${option}.${name} must be`);
  });
});

describe("algorithm.aggregation.length", () => {
  const rows = [3, 2].map((trained) => ({
    tokens: new Int32Array(8),
    targetMask: Uint8Array.from({ length: 8 }, (_, i) => (i > 0 && i <= trained ? 1 : 0)),
  })) as unknown as Parameters<typeof rowFactors>[0];
  const factors = (...overrides: readonly string[]): number[] => {
    const { aggregation, aggregationLength } = specOf(
      "algorithm.aggregation=seq-mean-token-sum-norm",
      ...overrides,
    );
    return [...rowFactors(rows, aggregation, aggregationLength)];
  };
  it("is the constant of Dr. GRPO, whatever the rows of a mini-batch are", () => {
    expect(factors("algorithm.aggregation.length=1024")).toEqual([1 / 2048, 1 / 2048]);
  });
  it("is the longest stretch of the rows by default", () => {
    expect(factors()).toEqual([1 / 6, 1 / 6]);
  });
  it("goes by verl's name, as the others do", () => {
    const { config } = loadConfig({
      overrides: {
        "model.name": "m",
        "actor_rollout_ref.actor": {
          loss_agg_mode: "seq-mean-token-sum-norm",
          loss_scale_factor: 512,
          tau_pos: 1.5,
          tau_neg: 1.75,
          policy_loss: { loss_mode: "sapo", dro_beta: null },
        },
      },
    });
    expect(config.algorithm).toMatchObject({
      aggregation: { type: "seq-mean-token-sum-norm", length: 512 },
      loss: { type: "sapo", tauPos: 1.5, tauNeg: 1.75 },
    });
  });
});
