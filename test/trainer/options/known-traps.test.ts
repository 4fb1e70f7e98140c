// Traps of algorithms, options and rows, by their numbers in test/known-traps.md.
import { describe, expect, it } from "vitest";
import { defaultLoss, defaultOptim } from "../../../src/core/loss/loss.ts";
import { defaultSampling } from "../../../src/core/policy.ts";
import type { TrainingBackend } from "../../../src/core/backend.ts";
import { capabilityMatrix } from "../../../src/core/capabilities.ts";
import type { TrainingRow } from "../../../src/core/loss/training-row.ts";
import { configFields } from "../../../src/config/fields.ts";
import { loadConfig } from "../../../src/config/load.ts";
import { startWarnings } from "../../../src/config/checks/start-warnings.ts";
import { valueAt } from "../../../src/config/tree.ts";
import {
  requireFunctions,
  takeFunctions,
  withLoaded,
} from "../../../src/trainer/custom-algorithms.ts";
import { learningRateAt } from "../../../src/algorithms/schedule.ts";
import { lossOf } from "../../../src/trainer/update/update-spec.ts";
import { episode, type EpisodeShape, rowsOf, withoutStd } from "./episodes.ts";

const load = (...overrides: string[]) =>
  loadConfig({
    overrides: ["model.name=m", ...withoutStd(overrides), ...overrides],
  });

const localBackend = { capabilities: capabilityMatrix.local } as TrainingBackend;

async function rowsWith(
  overrides: readonly string[],
  shapes: readonly EpisodeShape[],
): Promise<readonly TrainingRow[]> {
  const { config } = load(...overrides);
  return (await rowsOf(config, localBackend, shapes.map(episode))).rows;
}

const sampled = ({ advantages, targetMask }: TrainingRow): number[] =>
  [...advantages].filter((_, i) => targetMask[i] === 1).map((value) => Number(value.toFixed(6)));

const won: EpisodeShape = { reward: 1 };
const lost: EpisodeShape = { reward: 0 };

describe("advantages", () => {
  it("W2: one rollout per task trains where the estimator can, and warns where it cannot", async () => {
    const alone = [won, { ...lost, task: "b" }];
    const plain = await rowsWith(["rollout.n=1", "algorithm.estimator=reinforce"], alone);
    expect(plain.map(sampled)).toEqual([
      [1, 1],
      [0, 0],
    ]);
    expect(await rowsWith(["rollout.n=1"], alone)).toHaveLength(0);
    expect(startWarnings(load("rollout.n=1").config, 9, 9).join()).toContain("a group of one");
    const reinforce = load("rollout.n=1", "algorithm.estimator=reinforce").config;
    expect(startWarnings(reinforce, 9, 9).join()).not.toContain("a group of one");
  });

  it("k1 as a penalty in the loss hardly constrains, and a warning says so", () => {
    const warnings = (...options: string[]) => startWarnings(load(...options).config, 99, 9).join();
    const k1 = "algorithm.kl_estimator=k1";
    expect(warnings("algorithm.kl_beta=0.1", k1)).toContain("the gradient of k1 in a loss is 0");
    expect(warnings("algorithm.kl_beta=0.1")).not.toContain("k1");
    expect(warnings(k1)).not.toContain("gradient of k1");
  });

  it("W4: a rollout that is filtered out becomes no row, and no zero in a mean", async () => {
    const rows = await rowsWith(
      ["algorithm.excluded_reasons=[timeout]"],
      [won, lost, { reward: 0, reason: "timeout" }],
    );
    expect(rows.map(sampled)).toEqual([
      [0.5, 0.5],
      [-0.5, -0.5],
    ]);
  });

  it("W5: a group of one has the advantage 0, not its reward", async () => {
    const rows = await rowsWith(["algorithm.filter_uniform_groups=false"], [{ reward: 5 }]);
    expect(rows.map(sampled)).toEqual([[0, 0]]);
  });

  it("W6: an estimator of the user's own works for all roles, and as one of the map", () => {
    const estimator = () => [];
    for (const option of [
      "algorithm.estimator=./a.ts#mine",
      "algorithm.estimator_by_role={judge: ./a.ts#mine}",
    ]) {
      const { functions } = takeFunctions({});
      const loaded = withLoaded(functions, { estimators: { "./a.ts#mine": estimator } });
      requireFunctions(load(option).config, loaded);
      expect(loaded.estimators.get("./a.ts#mine")).toBe(estimator);
    }
    expect(() => load("algorithm.estimator=mine")).toThrow("algorithm.estimator.type must be");
  });

  it("W8: groups with reported advantages and groups without go together", async () => {
    const given: EpisodeShape = { task: "given", steps: [{ advantage: 7 }] };
    const rows = await rowsWith(["algorithm.use_precomputed_advantage=true"], [given, won, lost]);
    expect(rows.map(sampled)).toEqual([
      [7, 7],
      [0.5, 0.5],
      [-0.5, -0.5],
    ]);
  });

  it("W10: every token gets the number that it was given", async () => {
    const steps = [{ response: [5, 6, 7], advantage: [1, -2, 0.5] }];
    const rows = await rowsWith(["algorithm.use_precomputed_advantage=true"], [{ steps }]);
    expect(rows.map(sampled)).toEqual([[1, -2, 0.5]]);
  });

  it("W12: a whole number is a number, and a list that is too short is not a list of zeros", async () => {
    const steps = [{ advantage: 3 }, { prompt: [9], advantage: [1] }];
    const rows = await rowsWith(["algorithm.use_precomputed_advantage=true"], [{ steps }]);
    expect(rows.map(sampled)).toEqual([[3, 3]]);
  });
});

describe("options", () => {
  it("W7: there is one default of each, wherever it is read", () => {
    const { tree, config } = loadConfig({ overrides: ["model.name=builtin:shop-tiny"] });
    for (const { key, default: stated, inherits, ofModel } of configFields()) {
      const expected =
        inherits === undefined ? (ofModel?.plain ?? stated) : valueAt(tree, inherits);
      // Other types than the default have other options.
      if (valueAt(tree, key) === undefined) continue;
      if (key !== "model.name") expect(valueAt(tree, key), key).toEqual(expected);
    }
    const { learningRate, beta1, beta2, eps, weightDecay, maxGradNorm } = config.training;
    expect({ learningRate, beta1, beta2, eps, weightDecay, maxGradNorm }).toEqual(defaultOptim);
    expect(config.rollout.train).toEqual(defaultSampling);
    expect(config.algorithm.loss.type).toBe(defaultLoss.name);
    expect(config.algorithm.aggregation.type).toBe(defaultLoss.aggregation);
    const { epsClip, epsClipHigh } = lossOf(config);
    const { droBeta } = lossOf(load("algorithm.loss=dro").config);
    const { sapoTauPositive, sapoTauNegative } = lossOf(load("algorithm.loss=sapo").config);
    expect({ epsClip, epsClipHigh }).toEqual({
      epsClip: defaultLoss.epsClip,
      epsClipHigh: defaultLoss.epsClipHigh,
    });
    // Those of `LossSpec`, as every backend has them.
    expect({ droBeta, sapoTauPositive, sapoTauNegative }).toEqual({
      droBeta: 0.05,
      sapoTauPositive: 1,
      sapoTauNegative: 1.05,
    });
  });

  it("W11: a loss that does not exist is an error before anything starts", () => {
    expect(() => load("algorithm.loss=ppoo")).toThrow("algorithm.loss.type must be one of");
    expect(() => load("algorithm.estimator_by_role={judge: ppo}")).toThrow(
      "algorithm.estimator_by_role",
    );
  });

  it("W18: no schedule ends with a step of rate 0", () => {
    for (const name of ["linear", "cosine"] as const) {
      const schedule = { name, learningRate: 1, warmupSteps: 2, totalSteps: 10 };
      expect(learningRateAt(schedule, 10)).toBeGreaterThan(0);
      expect(learningRateAt(schedule, 3)).toBe(1);
    }
  });
});

describe("rows", () => {
  it("W61: a step without log-probabilities costs itself, and shifts nothing", async () => {
    const whole = episode({
      reward: 1,
      steps: [{ prompt: [1] }, { prompt: [2], response: [0, 0] }],
    });
    const [first, second] = whole.trajectories[0]!.steps;
    // Log-probabilities of the second call stay its own; its ids are those of a padding token.
    const steps = [
      { ...first!, trace: { ...first!.trace, logprobs: new Float32Array(0) } },
      { ...second!, trace: { ...second!.trace, logprobs: Float32Array.of(-0.1, -0.2) } },
    ];
    const broken = { ...whole, trajectories: [{ ...whole.trajectories[0]!, steps }] };
    const { config } = load("algorithm.estimator=reinforce");
    const { rows, metrics } = await rowsOf(config, localBackend, [broken]);
    expect(rows).toHaveLength(1);
    expect([...rows[0]!.targetMask]).toEqual([0, 1, 1]);
    expect([...rows[0]!.samplingLogprobs]).toEqual([0, ...Float32Array.of(-0.1, -0.2)]);
    expect(metrics["rows/dropped/logprobs_length"]).toBe(1);
  });
});
