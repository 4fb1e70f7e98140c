import { describe, expect, it } from "vitest";
import type { Tree } from "./config/camel-keys.ts";
import { loadConfig } from "./config/load.ts";
import { configTree } from "./config/parse.ts";
import { deleteAt } from "./config/tree.ts";
import { checkSameConfig } from "./run-identity.ts";

const load = (...overrides: string[]) =>
  loadConfig({ overrides: ["model.name=m", ...overrides] }).config;

/** What an earlier version wrote, which did not know these options. */
function without(tree: Tree, ...keys: string[]): Tree {
  for (const key of keys) deleteAt(tree, key);
  return tree;
}

describe("a run that is continued", () => {
  const tree = (): Tree => configTree(load());

  it("may have options that the earlier version did not know, at their defaults", () => {
    const before = without(tree(), "algorithm.rollout_correction", "training.min_lr_ratio");
    expect(() => checkSameConfig(before, load(), "runs/a")).not.toThrow();
    const changed = load("training.min_lr_ratio=0.5");
    expect(() => checkSameConfig(before, changed, "runs/a")).toThrow(
      "training.min_lr_ratio was 0 and is 0.5",
    );
  });
  it("must have the same options otherwise, apart from those that may change", () => {
    expect(() => checkSameConfig(tree(), load("trainer.save_freq=3"), "runs/a")).not.toThrow();
    expect(() => checkSameConfig(tree(), load("rollout.n=3"), "runs/a")).toThrow(
      "rollout.n was 8 and is 3",
    );
  });
});
