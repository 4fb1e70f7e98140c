/** What JavaScript may pass and the compiler would refuse: an error by name, before anything starts. */
import { describe, expect, it } from "vitest";
import { evaluate, fineTune } from "../../src/index.ts";
import { AgentTrainer } from "../../src/launch/agent-trainer.ts";
import { coinAgent, coinConfig, coinEvaluator, coinTasks } from "../trainer/coin-run.ts";

const base = {
  agentFlow: coinAgent,
  evaluator: coinEvaluator,
  trainDataset: coinTasks,
  config: coinConfig("unused"),
};
const made = (more: object): AgentTrainer => new AgentTrainer({ ...base, ...more });

describe("an unknown option in code", () => {
  it.each([
    ["evalutor", "Did you mean evaluator?"],
    ["val_dataset", "Did you mean valDataset?"],
    ["workers", 'AgentTrainer has no option "workers".'],
    ["__proto__x", "has no option"],
  ])("%s is refused by name", (name, message) => {
    expect(() => made({ [name]: 1 })).toThrow(message);
  });

  it("is refused by evaluate and fineTune, too", async () => {
    const given = { config: base.config, trian: "x.jsonl" } as never;
    await expect(fineTune(given)).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: 'fineTune has no option "trian". Did you mean train?',
    });
    await expect(evaluate({ ...base, datset: [] } as never)).rejects.toMatchObject({
      code: "CONFIG_INVALID",
    });
  });
});

describe("a function of an algorithm", () => {
  const fn = (): number => 1;
  it.each([
    [{ algorithm: { lossFn: fn } }, "lossFn", "loss"],
    [{ algorithm: { advEstimator: fn } }, "advEstimator", "estimator"],
    [{ algorithm: { loss_fn: fn } }, "loss_fn", "loss"],
    [{ "algorithm.loss": fn }, "algorithm.loss", "loss"],
    [{ "algorithm.estimator": fn }, "algorithm.estimator", "estimator"],
  ])("under another name says where it belongs: %j", (config, name, option) => {
    expect(() => made({ config: { model: { name: "m" }, ...config } })).toThrow(
      expect.objectContaining({
        code: "CONFIG_INVALID",
        message: `${name} takes no function.`,
        hint: `Pass it as config: { algorithm: { ${option}: (...) => ... } }.`,
      }),
    );
  });
});

describe("a custom tracker", () => {
  const track = (): void => {};
  it.each([
    [{ name: "x", track }, "trackers[0] (x) is not a tracker: it lacks events"],
    [{ name: "x", events: ["run-end"] }, "it lacks a method track"],
    [{ events: [], track }, "trackers[0] is not a tracker: it lacks a name"],
    [null, "trackers[0] is not a tracker"],
    ["wandb", "trackers[0] is not a tracker"],
  ])("without all its parts is refused when the run starts: %j", async (tracker, message) => {
    await expect(made({ trackers: [tracker] }).train()).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining(message),
    });
  });
});
