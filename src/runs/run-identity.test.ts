import { describe, expect, it } from "vitest";
import type { Tree } from "../config/camel-keys.ts";
import { configFields } from "../config/fields.ts";
import { loadConfig } from "../config/load.ts";
import { configTree } from "../config/parse.ts";
import { deleteAt } from "../config/tree.ts";
import { checkChanges, configChanges, freeOptions, hashDataset } from "./run-identity.ts";

const load = (...overrides: string[]) =>
  loadConfig({ overrides: ["model.name=m", ...overrides] }).config;

const check = (before: Tree, config: ReturnType<typeof load>, allowChanges = false): void =>
  checkChanges(configChanges(before, config), "runs/a", allowChanges);

/** What an earlier version wrote, which did not know these options. */
function without(tree: Tree, ...keys: string[]): Tree {
  for (const key of keys) deleteAt(tree, key);
  return tree;
}

describe("a run that is continued", () => {
  const tree = (): Tree => structuredClone(configTree(load()));

  it("may have options that the earlier version did not know, at their defaults", () => {
    const before = without(tree(), "algorithm.rollout_correction", "training.beta1");
    expect(() => check(before, load())).not.toThrow();
    const changed = load("training.beta1=0.5");
    expect(() => check(before, changed)).toThrow("training.beta1 was 0.9 and is 0.5");
  });
  it("must have the same options otherwise, apart from those that may change", () => {
    expect(() => check(tree(), load("trainer.save_freq=3"))).not.toThrow();
    expect(() => check(tree(), load("rollout.n=3"))).toThrow("rollout.n was 8 and is 3");
  });
  it("may differ in what decides its result when that is allowed, apart from what makes checkpoints mean something else", () => {
    const changes = configChanges(tree(), load("rollout.n=3", "training.learning_rate=0.5"));
    expect(changes).toEqual([
      { option: "rollout.n", before: 8, after: 3, isFixed: true },
      { option: "training.learning_rate", before: 3e-4, after: 0.5, isFixed: false },
    ]);
    expect(() => checkChanges(changes, "runs/a", true)).not.toThrow();
    for (const option of ["async_training.enable=true", "backend=verl"]) {
      expect(() => check(tree(), load(option), true), option).toThrow("have no meaning there");
    }
  });
  it("knows what an earlier version sampled validations with", () => {
    const before = without(tree(), "rollout.val.top_p");
    expect(configChanges(before, load())).toEqual([]);
  });
  it("knows by which seed an earlier version ordered the tasks", () => {
    const before = structuredClone(configTree(load("trainer.seed=7")));
    (before["data"] as Tree)["seed"] = null;
    expect(configChanges(before, load("trainer.seed=7"))).toEqual([]);
    expect(configChanges(before, load("trainer.seed=7", "data.seed=8"))).toMatchObject([
      { option: "data.seed", before: 7, after: 8 },
    ]);
  });
});

describe("options that may change", () => {
  it("hold everything of learning rate, limits, places, speed and validations, and nothing of the objective", () => {
    const free = new Set(freeOptions());
    const sections = (name: string) => [...free].filter((key) => key.startsWith(`${name}.`));
    expect([...free]).toEqual(
      expect.arrayContaining([
        "training.learning_rate",
        "training.lr_schedule.type",
        "training.lr_schedule.warmup",
        "training.num_minibatches",
        "training.ppo_epochs",
        "workflow.timeout_s",
        "workflow.retry_limit",
        "rollout.val.temperature",
        "rollout.n_val",
        "local.threads",
        "local.training_memory_mib",
        "tinker.base_url",
        "verl.launcher.url",
        "verl.timeout_s",
        "dataset.val",
      ]),
    );
    const guards = configFields().filter(({ key }) => key.startsWith("guards."));
    expect(sections("guards")).toEqual(guards.map(({ key }) => key));
    for (const section of ["algorithm", "model", "async_training", "rejection_sample"])
      expect(sections(section), section).toEqual([]);
    for (const key of ["rollout.n", "rollout.train.temperature", "trainer.seed", "data.seed"])
      expect(free.has(key), key).toBe(false);
  });
});

it("has the hash of data that earlier versions stored", () => {
  const tasks = ["a", "b"].map((instruction, i) => ({ id: `${i}`, instruction, metadata: {} }));
  // printf '[["0","a"],["1","b"]]' | sha256sum
  expect(hashDataset(tasks)).toBe(
    "731736d51f9846e12c51af007e2cb68c51e8c4c638111476eb2adef9dabf3011",
  );
});
