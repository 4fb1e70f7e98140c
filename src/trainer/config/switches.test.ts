import { describe, expect, it } from "vitest";
import { type ConfigField, configFields } from "./fields.ts";
import { loadConfig, noticesOf, resolveConfig } from "./load.ts";
import type { Requirement } from "./schema/option-meta.ts";
import { describeRequirement, idleOptions, validationNotices } from "./switches.ts";

/** A value that is not the default, of each option that needs another one. */
const changed: Readonly<Record<string, unknown>> = {
  "model.lora_alpha": 16,
  "data.train_batch_size": 3,
  "data.val_batch_size": 3,
  "data.difficulty_key": "level",
  "rollout.n_val": 3,
  "rollout.val.temperature": 0.5,
  "rollout.val.top_p": 0.5,
  "rollout.val.top_k": 5,
  "rollout.val.min_p": 0.5,
  "rollout.val.max_tokens": 5,
  "algorithm.norm_adv_by_std_in_grpo": false,
  "algorithm.eps_clip": 0.1,
  "algorithm.eps_clip_high": 0.3,
  "algorithm.clip_ratio_c": 3,
  "algorithm.kl_estimator": "k1",
  "algorithm.kl_penalty": "k2",
  "algorithm.kl_ctrl.kl_coef": 0.5,
  "algorithm.overlong_buffer.len": 5,
  "algorithm.overlong_buffer.penalty_factor": 2,
  "algorithm.overlong_buffer.max_length": 99,
  "algorithm.rollout_correction.tis_cap": 5,
  "algorithm.rollout_correction.rollout_is_batch_normalize": true,
  "algorithm.rollout_correction.rollout_rs_threshold": "2",
  "stepwise_advantage.mode": "per_step",
  "stepwise_advantage.gamma": 0.5,
  "stepwise_advantage.normalize_by_steps": true,
  "compact_filtering.mask_max_prompt_length_exceeded": false,
  "compact_filtering.mask_max_response_length_exceeded": false,
  "compact_filtering.mask_env_done": true,
  "compact_filtering.mask_max_turns_exceeded": false,
  "compact_filtering.mask_timeout": false,
  "compact_filtering.mask_unknown": true,
  "compact_filtering.mask_error": false,
  "training.warmup_steps_ratio": 0.5,
  "training.min_lr_ratio": 0.5,
  "guards.max_skipped_updates": 9,
  "guards.action": "warn",
  "rejection_sample.multiplier": 2,
  "rejection_sample.min_partial_solve_tasks": 1,
  "rejection_sample.min_trajs_per_group": 2,
  "rejection_sample.max_batches": 2,
  "replay.max_age": 2,
  "replay.capacity": 2,
  "async_training.mini_batch_size": 2,
  "async_training.staleness_threshold": 2,
  "async_training.trigger_parameter_sync_step": 2,
  "async_training.partial_rollout": false,
  "trainer.total_epochs": 3,
  "trainer.test_freq": 3,
  "trainer.val_only": true,
  "trainer.keep_best": true,
  "trainer.best_metric": "val/pass@1",
  "verl.url": "http://a",
  "verl.inference_gpus_per_node": 2,
  "verl.inference_nodes": 2,
};

/** Values of switches: on, and off. */
const switches: Readonly<Record<string, readonly [on: unknown, off: unknown]>> = {
  "model.lora_rank": [8, 0],
  "data.curriculum": ["easy_first", "none"],
  "algorithm.adv_estimator": ["grpo", "rloo"],
  "algorithm.loss_fn": ["ppo", "sapo"],
  "algorithm.kl_beta": [0.1, 0],
  "algorithm.rollout_correction.tis_mode": ["token", null],
  "algorithm.rollout_correction.rollout_rs": ["token_k1", null],
  "stepwise_advantage.mode": ["per_step", "broadcast"],
  "training.warmup_steps": [0, 3],
  "training.lr_schedule": ["cosine", "constant"],
  "guards.on_non_finite": ["skip", "raise"],
  "guards.grad_norm": [1, null],
  "guards.kl": [1, null],
  "guards.ratio": [2, null],
  "replay.tasks": [2, 0],
  "trainer.total_batches": [-1, 5],
  "verl.launcher": ["attach", "process"],
  "verl.placement": ["disaggregated", "colocated"],
  "async_training.mini_batch_size": [null, 2],
};

/** What sets a requirement: `at` 0 meets it, 1 does not. */
function setting(requirement: Requirement, at: 0 | 1): Record<string, unknown> {
  if ("data" in requirement) return {};
  if ("anyOf" in requirement) {
    const all = requirement.anyOf.map((one) => setting(one, at));
    return at === 0 ? all[0]! : (Object.assign({}, ...all) as Record<string, unknown>);
  }
  const { option } = requirement;
  const isSwitch = "is" in requirement && typeof requirement.is[0] === "boolean";
  const usual = isSwitch ? [requirement.is[0], requirement.is[0] !== true] : switches[option];
  expect(usual, `values of ${option}`).toBeDefined();
  return { [option]: usual![at] };
}

const configOf = (field: ConfigField, at: 0 | 1, value: unknown = changed[field.key]) => {
  const set = Object.assign({}, ...field.requires.map((one) => setting(one, at))) as object;
  const backend = field.key.startsWith("verl.") ? { backend: "verl" } : {};
  const rejection = { "algorithm.rollout_correction.rollout_rs_threshold": "2" };
  const pair = "algorithm.rollout_correction.rollout_rs" in set && at === 0 ? rejection : {};
  return loadConfig({
    overrides: { "model.name": "m", ...backend, ...pair, ...set, [field.key]: value },
  }).config;
};

const dependent = configFields().filter(({ requires }) => requires.length > 0);

describe("an option whose switch is off", () => {
  it("is known for every option that depends on one", () => {
    expect(Object.keys(changed)).toEqual(dependent.map(({ key }) => key));
  });

  it.each(dependent.map((field) => [field.key, field] as const))(
    "%s gives a warning that names the switch, and none when it is on",
    (key, field) => {
      const value = JSON.stringify(changed[key]);
      const off = configOf(field, 1);
      const idle = idleOptions(off, false).filter((one) => one.key === key);
      expect(idle).toHaveLength(1);
      const expected = `${key}=${value} has no effect: it needs ${describeRequirement(idle[0]!.lacks)}.`;
      expect([...noticesOf(off), ...validationNotices(off)]).toContain(expected);
      const on = configOf(field, 0);
      expect(idleOptions(on, true).map((one) => one.key)).not.toContain(key);
      // What stays at its default was not asked for.
      const asDefault = configOf(field, 1, field.default);
      expect(idleOptions(asDefault, false).map((one) => one.key)).not.toContain(key);
    },
  );

  it("is named in the words of the configuration", () => {
    const { notices, config } = loadConfig({
      overrides: [
        "model.name=m",
        "replay.max_age=8",
        "algorithm.loss_fn=dro",
        "algorithm.eps_clip=0.1",
      ],
    });
    expect(notices).toEqual([
      "algorithm.eps_clip=0.1 has no effect: it needs algorithm.loss_fn=ppo or cispo or gspo or gmpo.",
      "replay.max_age=8 has no effect: it needs replay.tasks above 0.",
    ]);
    // Also where a configuration is taken apart and put together again.
    const again = resolveConfig({ ...config, replay: { ...config.replay, tasks: 1 } });
    expect(noticesOf(again)).toHaveLength(1);
  });

  it("counts losses and estimators of single roles as on", () => {
    const { notices } = loadConfig({
      overrides: {
        "model.name": "m",
        "algorithm.loss_fn": "dro",
        "algorithm.loss_fn_map": { judge: "ppo" },
        "algorithm.clip_ratio_c": 3,
        "algorithm.adv_estimator": "./a.ts#mine",
        "algorithm.norm_adv_by_std_in_grpo": false,
      },
    });
    expect(notices).toEqual([]);
  });

  it("may stay in a section of a backend that is not used", () => {
    const overrides = ["model.name=m", "verl.inference_nodes=2"];
    expect(loadConfig({ overrides }).notices).toEqual([]);
  });
});

describe("validations", () => {
  it("sample as training does where nothing else is said, apart from the temperature", () => {
    const { rollout } = loadConfig({
      overrides: [
        "model.name=m",
        "rollout.train={temperature: 0.7, top_p: 0.9, top_k: 40, min_p: 0.1, max_tokens: 2048}",
        "rollout.val.top_k=3",
      ],
    }).config;
    expect(rollout.val).toEqual({
      temperature: 1,
      topP: 0.9,
      topK: 3,
      minP: 0.1,
      maxTokens: 2048,
    });
  });
});
