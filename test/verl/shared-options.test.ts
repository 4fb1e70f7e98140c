import { describe, expect, it } from "vitest";
import { sharedKeys, verlOverrides } from "../../src/backends/verl/shared-keys.ts";
import { verlOptionsOf } from "../../src/launch/verl-options.ts";
import { loadConfig } from "../../src/config/load.ts";
import { fakeRun } from "./fake-bridge.ts";

const given = (...overrides: string[]): string[] => verlOverrides({ run: fakeRun, overrides });

describe("options that verl has, too", () => {
  it("come to verl as ours", () => {
    const run = { ...fakeRun, topK: 0, optim: { ...fakeRun.optim, maxGradNorm: 0, eps: 1e-8 } };
    const overrides = verlOverrides({ run, gpusPerNode: 4, nodes: 2 });
    expect(overrides).toContain("actor_rollout_ref.rollout.n=8");
    expect(overrides).toContain("trainer.n_gpus_per_node=4");
    expect(overrides).toContain("trainer.nnodes=2");
    // Off is 0 here and -1 there; never is 0 here and a bound that is not reached there.
    expect(overrides).toContain("actor_rollout_ref.rollout.top_k=-1");
    expect(overrides).toContain("actor_rollout_ref.actor.optim.clip_grad=1000000000");
    expect(overrides).toContain("actor_rollout_ref.actor.optim.betas=[0.9,0.95]");
    expect(overrides).toContain(
      "actor_rollout_ref.actor.optim.override_optimizer_config={eps:1e-8}",
    );
  });

  it.each([
    [1, "sampling", "raw"],
    [0, "sampling", "raw"],
    [0.7, "sampling", "processed"],
    [0.7, "one", "raw"],
  ] as const)(
    "at temperature %d, %s, servers give %s log-probabilities",
    (temperature, logprobTemperature, mode) => {
      const run = { ...fakeRun, temperature, logprobTemperature };
      expect(verlOverrides({ run })).toContain(
        `actor_rollout_ref.rollout.logprobs_mode=${mode}_logprobs`,
      );
    },
  );

  it("place servers beside training or apart from it", () => {
    const apart = verlOverrides({
      ...{ run: fakeRun, gpusPerNode: 6, placement: "disaggregated", inferenceGpusPerNode: 2 },
      overrides: ["actor_rollout_ref.rollout.checkpoint_engine.backend=nixl"],
    });
    expect(apart).toContain("actor_rollout_ref.hybrid_engine=false");
    expect(apart).toContain("actor_rollout_ref.rollout.n_gpus_per_node=2");
    expect(apart).toContain("actor_rollout_ref.rollout.nnodes=1");
    // Hydra takes the last.
    expect(apart.filter((entry) => entry.includes("checkpoint_engine.backend"))).toEqual([
      "actor_rollout_ref.rollout.checkpoint_engine.backend=nccl",
      "actor_rollout_ref.rollout.checkpoint_engine.backend=nixl",
    ]);
    expect(given()).toContain("actor_rollout_ref.hybrid_engine=true");
    expect(() => given("actor_rollout_ref.hybrid_engine=false")).toThrow(
      /contradicts verl\.placement, which comes to true/,
    );
  });

  it("may be said twice, but not twice differently", () => {
    expect(given("actor_rollout_ref.rollout.n=8")).toHaveLength(sharedKeys.length);
    expect(() => given("actor_rollout_ref.rollout.n=16")).toThrow(
      expect.objectContaining({
        code: "CONFIG_INVALID",
        message: "verl's actor_rollout_ref.rollout.n=16 contradicts rollout.n, which comes to 8.",
        hint: "Set rollout.n, and leave verl's key out.",
      }),
    );
    expect(() => given("++actor_rollout_ref.actor.optim.betas=[0.9, 0.999]")).toThrow(
      /contradicts training\.beta1, training\.beta2/,
    );
  });

  it.each([
    ["algorithm.adv_estimator=gae", /adv_estimator does nothing here/],
    ["trainer.save_freq=5", /save_freq does nothing here/],
    ["+actor_rollout_ref.actor.policy_loss.loss_mode=gspo", /loss_mode does nothing here/],
    ["actor_rollout_ref.actor.use_kl_loss=true", /use_kl_loss does nothing here/],
    ["actor_rollout_ref.actor.entropy_coeff=0.1", /entropy_coeff does nothing here/],
    ["critic.enable=true", /critic\.enable does nothing here/],
  ])("%s is refused, since it would do nothing", (override, message) => {
    expect(() => given(override)).toThrow(message);
  });

  it("pass verl's own options on, from a tree or a list", () => {
    const key = "actor_rollout_ref.actor.fsdp_config.param_offload";
    const base = ["model.name=m", "backend=verl", "verl.gpus_per_node=2"];
    for (const last of [`verl.config.${key}=true`, `verl.config=["${key}=true"]`]) {
      const { config } = loadConfig({ overrides: [...base, last] });
      expect(config.verl.config).toEqual([`${key}=true`]);
      const options = verlOptionsOf(config, {});
      expect(options).toMatchObject({ gpusPerNode: 2, overrides: [`${key}=true`] });
      expect(verlOverrides(options).at(-1)).toBe(`${key}=true`);
    }
  });

  it("need an address and a token to attach", () => {
    const overrides = [
      "model.name=m",
      "verl.launcher=attach",
      "verl.launcher.url=http://head:9000",
    ];
    const { config } = loadConfig({ overrides });
    expect(() => verlOptionsOf(config, {})).toThrow(/requires AGENT_TRAINER_BRIDGE_TOKEN/);
    const { attach } = verlOptionsOf(config, { AGENT_TRAINER_BRIDGE_TOKEN: "secret" });
    expect(attach).toEqual({ url: "http://head:9000", token: "secret" });
  });
});
