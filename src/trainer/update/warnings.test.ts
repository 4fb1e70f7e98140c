import { describe, expect, it } from "vitest";
import { capabilityMatrix } from "../../core/capabilities.ts";
import { loadConfig } from "../../config/load.ts";
import { logprobTemperatureOf } from "./update-spec.ts";
import { temperatureWarnings } from "./warnings.ts";
import type { TrainConfig } from "../../config/train-config.ts";

const config = (...set: string[]): TrainConfig =>
  loadConfig({ overrides: ["model.name=m", ...set] }).config;
const hot = "rollout.train.temperature=0.7";

describe("the policy that a run trains", () => {
  it.each([
    ["local", "sampling"],
    ["verl", "sampling"],
    ["tinker", "one"],
  ] as const)("%s: %s by default", (name, expected) => {
    expect(logprobTemperatureOf(config(hot), capabilityMatrix[name])).toBe(expected);
  });

  it("is said where it is not the one that samples", () => {
    const about = (name: keyof typeof capabilityMatrix, ...set: string[]): string =>
      temperatureWarnings(config(...set), { name, capabilities: capabilityMatrix[name] }).join();
    expect(about("local", hot)).toBe("");
    expect(about("verl", hot)).toBe("");
    expect(about("tinker")).toBe("");
    expect(about("local", "algorithm.logprob_temperature=one")).toBe("");
    expect(about("tinker", hot)).toMatch(
      /^rollout.train.temperature=0.7: the backend tinker can train .+ at temperature 1 only.+local and verl\.$/,
    );
    expect(about("local", hot, "algorithm.logprob_temperature=one")).toMatch(
      /algorithm.logprob_temperature=one: tokens are sampled from softmax\(logits \/ 0.7\)/,
    );
    expect(about("local", "rollout.train.temperature=0")).toMatch(/chosen greedily/);
  });
});
