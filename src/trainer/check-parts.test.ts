import { describe, expect, it } from "vitest";
import { checkParts } from "./check-parts.ts";
import { resolveConfig } from "../config/load.ts";

const check =
  (overrides: Record<string, unknown>, backend: string | null = "local", isInCode = true) =>
  () => {
    const data = { trainDataset: isInCode, valDataset: isInCode };
    const config = resolveConfig({ "model.name": "m", ...overrides });
    checkParts(config, { backend, agent: isInCode, groupEvaluator: isInCode, ...data });
  };

describe("checkParts", () => {
  it("takes a configuration that names no parts, and sections of other backends", () => {
    expect(check({})).not.toThrow();
    expect(check({ "verl.nodes": 2, "tinker.context_length": 100 })).not.toThrow();
    expect(check({ "local.threads": 2 }, "scripted")).not.toThrow();
    expect(check({ backend: "tinker" }, "tinker")).not.toThrow();
    // What stands there anyway changes nothing.
    expect(check({ "local.precision": "auto", agent: null })).not.toThrow();
  });

  it.each([
    ["local", { "local.precision": "f32" }, 'local.precision="f32"'],
    ["local", { "local.threads": 3 }, "local.threads=3"],
    ["local", { backend: "tinker" }, 'backend="tinker"'],
    ["tinker", { "tinker.context_length": 100 }, "tinker.context_length=100"],
    ["tinker", { "tinker.base_url": "http://a" }, 'tinker.base_url="http://a"'],
    ["verl", { "verl.config": ["trainer.x=1"] }, 'verl.config=["trainer.x=1"]'],
    ["local", { agent: "./agent.ts" }, 'agent="./agent.ts"'],
    ["local", { evaluator: "./e.ts" }, 'evaluator="./e.ts"'],
    ["local", { "dataset.train": "a.jsonl" }, 'dataset.train="a.jsonl"'],
    ["local", { "dataset.val": "a.jsonl" }, 'dataset.val="a.jsonl"'],
  ])("refuses, with the %s backend, %j", (name, overrides, written) => {
    expect(check(overrides, name)).toThrow(
      `${written} would be ignored: this program passes its own backend (${name}), agent, group evaluator, data.`,
    );
  });

  it("takes what code does not pass", () => {
    expect(check({ "local.threads": 2, backend: "tinker" }, null)).not.toThrow();
    const parts = { agent: "./agent.ts", evaluator: "./e.ts", dataset: { train: "a", val: "b" } };
    expect(check(parts, "local", false)).not.toThrow();
  });

  it("names all of them at once", () => {
    expect(check({ "local.threads": 3, agent: "./agent.ts" })).toThrow(
      'local.threads=3, agent="./agent.ts"',
    );
  });
});
