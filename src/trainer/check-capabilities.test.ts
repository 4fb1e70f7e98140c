import { describe, expect, it } from "vitest";
import type { BackendCapabilities } from "../core/backend.ts";
import { klEstimators, lossAggregations, lossNames } from "../core/loss/loss.ts";
import { capabilityRules, checkCapabilities } from "./check-capabilities.ts";
import { loadConfig } from "../config/load.ts";

const all: BackendCapabilities = {
  adapters: true,
  losses: lossNames,
  aggregations: lossAggregations,
  klEstimators,
  entropyBonus: true,
  dualClip: true,
  observations: true,
  fullFineTune: true,
  lora: true,
  quantizations: ["int8"],
  loraTargets: "layers",
  exactResume: true,
  forward: true,
  reference: true,
  temperature: true,
  measures: ["grad_norm", "kl_k3", "ratio_mean"],
  servesWhileTraining: true,
  optimizer: ["learningRate", "beta1", "beta2", "eps", "weightDecay", "maxGradNorm"],
};

/** For every rule: an override, and the capability whose absence forbids it. */
const cases: Record<string, [override: string, without: Partial<BackendCapabilities>]> = {
  "algorithm.loss.type": ["algorithm.loss=ppo", { losses: ["cross_entropy"] }],
  "algorithm.use_kl_in_reward": ["algorithm.use_kl_in_reward=true", { reference: false }],
  "algorithm.aggregation.type": [
    "algorithm.aggregation=token-sum",
    { aggregations: ["token-mean"] },
  ],
  "algorithm.loss_by_role": ["algorithm.loss_by_role={judge: dro}", { forward: false }],
  "algorithm.loss.clip_ratio_c": [
    "algorithm.loss.clip_ratio_c=3",
    { dualClip: false, forward: false },
  ],
  "algorithm.kl_beta": ["algorithm.kl_beta=0.1", { klEstimators: ["k1"] }],
  "algorithm.entropy_coef": ["algorithm.entropy_coef=0.1", { entropyBonus: false }],
  "algorithm.observation_loss": ["algorithm.observation_loss={tool: 0.1}", { observations: false }],
  "algorithm.rollout_correction.type": ["algorithm.rollout_correction=token", { forward: false }],
  "algorithm.rollout_correction.reject": [
    "algorithm.rollout_correction={reject: {token_k1: 2}}",
    { forward: false },
  ],
  "algorithm.rollout_correction.rollout_token_veto_threshold": [
    "algorithm.rollout_correction.rollout_token_veto_threshold=1e-4",
    { forward: false },
  ],
  "distillation.teacher": ["distillation={teacher: self, hint: answer}", { forward: false }],
  "record.token_rows": ["record.token_rows=4", { forward: false }],
  "model.quantization": ["model={lora_rank: 8, quantization: int8}", { quantizations: [] }],
  "model.adapter_by_role": [
    "model={lora_rank: 8, adapter_by_role: {judge: judge}}",
    { adapters: false },
  ],
  "model.lora_alpha": ["model={lora_rank: 8, lora_alpha: 16}", { loraAlpha: 32 }],
  "rollout.train.min_p": ["rollout={train: {min_p: 0.1}, val: {min_p: 0}}", { minP: false }],
  "rollout.val.min_p": ["rollout.val.min_p=0.1", { minP: false }],
  "guards.grad_norm": ["guards.grad_norm=10", { measures: ["kl_k3"] }],
  "guards.kl": ["guards.kl=0.1", { measures: ["grad_norm"] }],
  "guards.ratio": ["guards.ratio=2", { measures: [] }],
  "async_training.enable": ["async_training.enable=true", { servesWhileTraining: false }],
  "model.lora_rank": ["model.lora_rank=8", { lora: false }],
  "model.lora_targets": ["model={lora_rank: 8, lora_targets: [q_proj]}", { loraTargets: "groups" }],
  "training.lr_schedule.type": ["training.lr_schedule=cosine", { optimizer: [] }],
  "training.lr_schedule.warmup": ["training.lr_schedule.warmup=3", { optimizer: [] }],
  "training.learning_rate_by_adapter": [
    "training.learning_rate_by_adapter={default: 0.5}",
    { adapters: false },
  ],
  "training.learning_rate": ["training.learning_rate=0.5", { optimizer: ["beta1"] }],
  "training.beta1": ["training.beta1=0.5", { optimizer: ["learningRate"] }],
  "training.beta2": ["training.beta2=0.5", { optimizer: ["learningRate"] }],
  "training.eps": ["training.eps=0.5", { optimizer: ["learningRate"] }],
  "training.weight_decay": ["training.weight_decay=0.5", { optimizer: ["learningRate"] }],
  "training.max_grad_norm": ["training.max_grad_norm=0.5", { optimizer: ["learningRate"] }],
};

/** Options with values that no capability allows. */
const refusedEverywhere = ["algorithm.estimator.type"];

const configOf = (...overrides: string[]) =>
  loadConfig({ overrides: ["model.name=builtin:shop-tiny", ...overrides] }).config;

describe("checkCapabilities", () => {
  it("has a case for every rule", () => {
    const options = capabilityRules.map((rule) => rule.option);
    expect([...Object.keys(cases), ...refusedEverywhere].sort()).toEqual(options.sort());
  });
  it.each(Object.entries(cases))("refuses %s by name", (option, [override, without]) => {
    const config = configOf(override);
    expect(() => checkCapabilities(config, { name: "b", capabilities: all })).not.toThrow();
    const capabilities = { ...all, ...without };
    expect(() => checkCapabilities(config, { name: "b", capabilities })).toThrow(
      `The backend "b" does not support ${option}=`,
    );
  });
  it.each(["guards.kl=1", "guards.ratio=2"])(
    "refuses %s with cross_entropy, which has no ratios, unless a role has another loss",
    (guard) => {
      const supervised = [guard, "algorithm.loss=cross_entropy"];
      expect(() => configOf(...supervised)).toThrow(
        "which algorithm.loss=cross_entropy does not have. Set guards.grad_norm instead",
      );
      const mixed = configOf(...supervised, "algorithm.loss_by_role={judge: ppo}");
      expect(() => checkCapabilities(mixed, { name: "b", capabilities: all })).not.toThrow();
    },
  );
  it("refuses GAE by name where there is no critic", () => {
    const config = configOf("algorithm.estimator=gae");
    const { valueModel: _, ...without } = all;
    expect(() => checkCapabilities(config, { name: "b", capabilities: without })).toThrow(
      'The backend "b" does not support algorithm.estimator.type="gae". Backends that support it: local, verl.',
    );
  });
  it.each([
    ["no forward pass", { forward: false }],
    ["no loss that takes slopes", { losses: ["ppo"] }],
  ] as const)("refuses a loss that a backend with %s does not have", (_, without) => {
    const backend = { name: "b", capabilities: { ...all, ...without } };
    expect(() => checkCapabilities(configOf("algorithm.loss=./losses.ts#mine"), backend)).toThrow(
      'does not support algorithm.loss.type="./losses.ts#mine". Backends that support it: local, tinker, fireworks, verl.',
    );
  });
  it("takes any loss where slopes can be trained on, and one that a backend lists", () => {
    const config = configOf("algorithm.loss=./losses.ts#mine");
    expect(() => checkCapabilities(config, { name: "b", capabilities: all })).not.toThrow();
    const losses = ["./losses.ts#mine"] as unknown as BackendCapabilities["losses"];
    const capabilities = { ...all, losses, forward: false };
    expect(() => checkCapabilities(config, { name: "b", capabilities })).not.toThrow();
  });
  it("refuses full fine-tuning where there is none", () => {
    const capabilities = { ...all, fullFineTune: false };
    expect(() => checkCapabilities(configOf(), { name: "b", capabilities })).toThrow(
      "model.lora_rank=0",
    );
  });
  it("does not mind options at their defaults", () => {
    const capabilities = { ...all, optimizer: [] };
    expect(() => checkCapabilities(configOf(), { name: "b", capabilities })).not.toThrow();
  });
});
