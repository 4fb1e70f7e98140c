import { describe, expect, it } from "vitest";
import { loadConfig } from "../load.ts";
import { parseOverride } from "./overrides.ts";

const valueOf = (text: string): unknown => parseOverride(`name=${text}`).value;

describe("the value of an override", () => {
  it.each([
    ["run #1", "run #1"],
    ["run\t#1 of #2", "run\t#1 of #2"],
    ["#1", "#1"],
    ["data #2/train.jsonl", "data #2/train.jsonl"],
    ["4 # four", "4 # four"],
    ["true #", "true #"],
    ["&a x", "&a x"],
    ["*.jsonl", "*.jsonl"],
    ["!urgent", "!urgent"],
    ["%a", "%a"],
    ["--- a", "--- a"],
    ["a\n#b", "a\n#b"],
    [" a #b ", "a #b"],
  ])("%j is text to its end", (text, wanted) => expect(valueOf(text)).toBe(wanted));

  it.each<[string, unknown]>([
    ["run#1", "run#1"],
    ["'run #1'", "run #1"],
    ['"run #1"', "run #1"],
    ["4", 4],
    ["[a, 'b #c']", ["a", "b #c"]],
    ["{a:1, b:'#'}", { a: 1, b: "#" }],
    ["{a: &x 1, b: *x}", { a: 1, b: 1 }],
    ["", null],
    ["~", null],
    ["a!b", "a!b"],
    ["a-b*c&d", "a-b*c&d"],
  ])("%j is that of YAML", (text, wanted) => expect(valueOf(text)).toEqual(wanted));

  it.each(['"a" #b', "'a' # b", "[a] # b", "{a: 1} #b", "[!x a]", "{a: 1, # c\n b: 2}"])(
    "%j, of which a part would be lost, is refused",
    (text) => {
      expect(() => valueOf(text)).toThrow(
        expect.objectContaining({
          code: "CONFIG_INVALID",
          message: expect.stringMatching(/has a (?:comment|tag of YAML), which would be lost/u),
          hint: expect.stringContaining("Quote"),
        }) as Error,
      );
    },
  );
});

describe("a value and an option inside of it", () => {
  const load = (...overrides: string[]): unknown =>
    loadConfig({ overrides: ["model.name=builtin:shop-tiny", ...overrides] }).config.rollout.train;
  it.each([
    [["rollout.train=5", "rollout.train.temperature=0.5"], "rollout.train is 5"],
    [["rollout.train.temperature=0.5", "rollout.train=5"], "rollout.train must be a map"],
    [["rollout=high", "rollout.train.temperature=0.5"], 'rollout is "high"'],
    [["rollout.train=[1]", "rollout.train.temperature=0.5"], "rollout.train is [1]"],
    [["rollout={train: 5}", "rollout.train.temperature=0.5"], "rollout.train is 5"],
    [["rollout.train=false", "rollout.train.top_p=0.5"], "rollout.train is false"],
  ])("%j are refused", (overrides, message) => {
    expect(() => load(...overrides)).toThrow(message);
  });
  it("are refused in code too", () => {
    const overrides = { "rollout.train": 5, "rollout.train.temperature": 0.5 };
    expect(() => loadConfig({ overrides })).toThrow("rollout.train is 5, so");
  });
  it.each([[["rollout.train=null"]], [["rollout.train={}"]], [["rollout.train={top_p: 0.9}"]]])(
    "%j may come before it",
    (before) => {
      expect(load(...before, "rollout.train.temperature=0.5")).toMatchObject({ temperature: 0.5 });
    },
  );
  it("are a type and its options", () => {
    const overrides = ["model.name=m", "algorithm.loss=gspo", "algorithm.loss.eps_clip=0.1"];
    const { loss } = loadConfig({ overrides }).config.algorithm;
    expect(loss).toMatchObject({ type: "gspo", epsClip: 0.1 });
  });
});
