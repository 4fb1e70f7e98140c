/** Options that are one of several types, in every way that they are written. */
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, expectTypeOf, it } from "vitest";
import { loadConfig, resolveConfig } from "../load.ts";
import { configTree } from "../parse.ts";
import type { TrainConfig } from "../train-config.ts";
import { defineConfig, type TrainOptions } from "../train-options.ts";

const ppo = { type: "ppo", epsClip: null, epsClipHigh: null, clipRatioC: null };
const load = (...overrides: string[]) => loadConfig({ overrides: ["model.name=m", ...overrides] });
const lossOf = (...overrides: string[]) => load(...overrides).config.algorithm.loss;

function lossOfFile(yaml: string, ...overrides: string[]): TrainConfig["algorithm"]["loss"] {
  const file = join(mkdtempSync(join(tmpdir(), "agent-trainer-types-")), "run.yaml");
  writeFileSync(file, yaml);
  return loadConfig({ file, overrides: ["model.name=m", ...overrides] }).config.algorithm.loss;
}

describe("an option with types", () => {
  it.each([
    [[], ppo],
    [["algorithm.loss=dro"], { type: "dro", beta: 0.05 }],
    [["algorithm.loss=dro", "algorithm.loss.beta=0.1"], { type: "dro", beta: 0.1 }],
    [["algorithm.loss.beta=0.1", "algorithm.loss.type=dro"], { type: "dro", beta: 0.1 }],
    [["algorithm.loss.eps_clip=0.1"], { ...ppo, epsClip: 0.1 }],
    [["algorithm.loss={type: sapo, tau_pos: 2}"], { type: "sapo", tauPos: 2, tauNeg: 1.05 }],
    [["algorithm.loss=./mine.ts#loss"], { type: "./mine.ts#loss" }],
    [["algorithm.loss=null"], ppo],
  ])("is what %j say", (overrides, expected) => {
    expect(lossOf(...overrides)).toEqual(expected);
  });

  it("may be short in one layer, with its options in another", () => {
    expect(lossOfFile("algorithm: {loss: dro}", "algorithm.loss.beta=0.1")).toEqual({
      type: "dro",
      beta: 0.1,
    });
    const file = "algorithm: {loss: {type: ppo, eps_clip: 0.1}}";
    expect(lossOfFile(file, "algorithm.loss=ppo")).toEqual({ ...ppo, epsClip: 0.1 });
    // 0.1 is far too much for gspo: another type begins with its own defaults.
    const gspo = { type: "gspo", epsClip: null, epsClipHigh: null };
    expect(lossOfFile(file, "algorithm.loss=gspo")).toEqual(gspo);
    expect(lossOfFile(file, "algorithm.loss={type: gspo, eps_clip_high: 1e-3}")).toEqual({
      ...gspo,
      epsClipHigh: 1e-3,
    });
    expect(lossOfFile(file, "~algorithm.loss")).toEqual(ppo);
    expect(lossOfFile(file, "~algorithm.loss.eps_clip")).toEqual(ppo);
  });

  it.each([
    ["algorithm.loss.beta=1", "algorithm.loss.beta belongs to dro, and algorithm.loss is ppo."],
    [
      "algorithm.loss={type: dro, eps_clip: 0.1}",
      "algorithm.loss.eps_clip belongs to ppo, cispo, gspo and gmpo, and algorithm.loss is dro.",
    ],
    [
      "algorithm.estimator={type: rloo, norm_by_std: false}",
      "belongs to grpo, grpo_passk and custom functions, and algorithm.estimator is rloo.",
    ],
    [
      "algorithm.loss.betta=1",
      "Unknown option algorithm.loss.betta. Did you mean algorithm.loss.beta?",
    ],
    ["algorithm.loss=3", "algorithm.loss.type must be one of importance_sampling"],
    ["algorithm.loss={type: dro, beta: 0}", "algorithm.loss.beta must be a number above 0; got 0."],
  ])("refuses %s by name", (override, message) => {
    expect(() => load(override)).toThrow(message);
  });

  it("is the same after a file of it is read again", () => {
    const { tree, config } = load("algorithm.loss=dro", "algorithm.loss_by_role={judge: ppo}");
    expect(tree["algorithm"]).toMatchObject({
      loss: { type: "dro", beta: 0.05 },
      loss_by_role: [{ role: "judge", type: "ppo", eps_clip: null }],
    });
    expect(loadConfig({ overrides: tree }).config).toEqual(config);
    const changed = resolveConfig({ ...config, algorithm: { ...config.algorithm, klBeta: 0.1 } });
    expect(configTree(changed)["algorithm"]).toMatchObject({ loss: { type: "dro" }, kl_beta: 0.1 });
  });
});

describe("the flat names of earlier versions and of rLLM", () => {
  it("mean the same", () => {
    const { config, warnings } = load(
      "algorithm.adv_estimator=grpo_passk",
      "algorithm.norm_adv_by_std_in_grpo=false",
      "rllm.algorithm.loss_fn=vanilla",
      "algorithm.eps_clip=0.1",
      "algorithm.loss_agg_mode=seq-mean-token-sum-norm",
      "algorithm.loss_scale_factor=512",
    );
    expect(config.algorithm).toMatchObject({
      estimator: { type: "grpo_passk", normByStd: false },
      loss: { ...ppo, epsClip: 0.1 },
      aggregation: { type: "seq-mean-token-sum-norm", length: 512 },
    });
    expect(warnings).toEqual([]);
  });

  it("go to the losses of single roles, too, which had them all", () => {
    const { config, warnings } = load(
      "algorithm.loss_fn=dro",
      "algorithm.loss_fn_map={judge: ppo, solver: dro}",
      "algorithm.eps_clip=0.1",
      "algorithm.dro_beta=0.2",
      "algorithm.sapo_tau_pos=2",
    );
    expect(config.algorithm.loss).toEqual({ type: "dro", beta: 0.2 });
    expect(config.algorithm.lossByRole).toEqual([
      { role: "judge", ...ppo, epsClip: 0.1 },
      { role: "solver", type: "dro", beta: 0.2 },
    ]);
    expect(warnings).toEqual([
      "algorithm.sapo_tau_pos=2 has no effect: algorithm.loss.tau_pos belongs to sapo, and algorithm.loss is dro.",
    ]);
  });

  it("go to custom functions, too", () => {
    const { config, warnings } = load(
      "algorithm.adv_estimator=./a.ts#mine",
      "algorithm.norm_adv_by_std_in_grpo=false",
    );
    expect(config.algorithm.estimator).toEqual({ type: "./a.ts#mine", normByStd: false });
    expect(warnings).toEqual([]);
  });

  it("keep their meaning where a later layer names another type", () => {
    expect(lossOfFile("algorithm: {eps_clip: 0.1}", "algorithm.loss_fn=cispo")).toMatchObject({
      type: "cispo",
      epsClip: 0.1,
    });
  });

  it("work in code, where they were in camelCase", () => {
    const earlier = { model: { name: "m" }, algorithm: { lossFn: "dro", droBeta: 0.3 } };
    expect(resolveConfig(earlier as TrainOptions).algorithm.loss).toEqual({
      type: "dro",
      beta: 0.3,
    });
  });
});

describe("the types of options with types", () => {
  it("infer what a type has", () => {
    type Loss = TrainConfig["algorithm"]["loss"];
    expectTypeOf<Extract<Loss, { type: "dro" }>["beta"]>().toEqualTypeOf<number>();
    expectTypeOf<Extract<Loss, { type: "ppo" }>["clipRatioC"]>().toEqualTypeOf<number | null>();
    const { algorithm } = defineConfig({
      algorithm: { loss: { type: "ppo", epsClip: 0.2, epsClipHigh: 0.28 }, estimator: "rloo" },
    });
    expect(algorithm?.estimator).toBe("rloo");
  });

  it("refuse what it has not", () => {
    const wrong: TrainOptions[] = [
      // @ts-expect-error 'beta' does not exist in type '{ readonly type: "ppo"; readonly epsClip?: ...'
      { algorithm: { loss: { type: "ppo", beta: 1 } } },
      // @ts-expect-error no such type
      { algorithm: { loss: { type: "pppo" } } },
      // @ts-expect-error no such type, in short
      { algorithm: { loss: "pppo" } },
      // @ts-expect-error rloo divides by nothing
      { algorithm: { estimator: { type: "rloo", normByStd: true } } },
      // @ts-expect-error a mean over tokens has no length
      { algorithm: { aggregation: { type: "token-mean", length: 1 } } },
      // @ts-expect-error of a role
      { algorithm: { lossByRole: { judge: { type: "dro", epsClip: 0.1 } } } },
    ];
    expect(wrong).toHaveLength(6);
  });
});
