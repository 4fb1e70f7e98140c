import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadConfig, withBackend } from "./load.ts";
import { modelNotes, parseConfigTree } from "./parse.ts";

const load = (...overrides: string[]) => loadConfig({ overrides }).config;

const decided = (...overrides: string[]) => {
  const { model, training, rollout } = load(...overrides);
  return [model.loraRank, training.learningRate, rollout.n];
};

describe("defaults of a model", () => {
  // Rank 0 is full fine-tuning. 3e-4 and its tenth: `get_lr` of tinker-cookbook.
  it.each([
    ["the built-in one", ["model.name=builtin:shop-tiny"], [0, 1e-4, 8]],
    [
      "the built-in one with LoRA",
      ["model.name=builtin:shop-tiny", "model.lora_rank=4"],
      [4, 1e-4, 8],
    ],
    ["a larger one", ["model.name=a/b"], [32, 3e-4, 8]],
    ["a larger one, all weights", ["model.name=a/b", "model.lora_rank=0"], [0, 3e-5, 8]],
    ["a larger one at a rank", ["model.name=a/b", "model.lora_rank=4"], [4, 3e-4, 8]],
    ["a larger one at a rate", ["model.name=a/b", "training.learning_rate=1e-6"], [32, 1e-6, 8]],
    ["null written out", ["model={name: a/b, lora_rank: null}"], [32, 3e-4, 8]],
    ["verl", ["model.name=a/b", "backend=verl"], [32, 3e-4, 8]],
    ["tinker", ["model.name=a/b", "backend=tinker"], [32, 3e-4, 8]],
    ["adapters only", ["model.name=builtin:shop-tiny", "backend=tinker"], [32, 1e-4, 8]],
    ["adapters only", ["model.name=builtin:shop-tiny", "backend=fireworks"], [32, 1e-4, 8]],
    ["a backend from a file", ["model.name=a/b", "backend=./mine.ts#create"], [0, 1e-4, 8]],
  ] as const)("%s: %j", (_, overrides, expected) => {
    expect(decided(...overrides)).toEqual(expected);
  });

  it("counts runs of the built-in model and folders of its size as small", () => {
    const root = mkdtempSync(join(tmpdir(), "agent-trainer-model-"));
    const folder = (name: string, file: string, text: string): string => {
      mkdirSync(join(root, name), { recursive: true });
      writeFileSync(join(root, name, file), text);
      return join(root, name);
    };
    const tiny = folder("tiny", "config.json", '{"hidden_size": 128}');
    const large = folder("large", "config.json", '{"hidden_size": 576}');
    const run = folder("run", "config.resolved.yaml", "model: {name: builtin:shop-tiny}");
    const second = folder("second", "config.resolved.yaml", `model: {name: ${run}}`);
    const ofLarge = folder("of-large", "config.resolved.yaml", `model: {name: ${large}}`);
    const itself = folder(
      "itself",
      "config.resolved.yaml",
      `model: {name: ${join(root, "itself")}}`,
    );
    const broken = folder("broken", "config.json", "{");
    const ranks = [
      tiny,
      large,
      run,
      second,
      join(run, "checkpoints/000004/weights"),
      ofLarge,
      itself,
      broken,
    ];
    expect(ranks.map((name) => load(`model.name=${name}`).model.loraRank)).toEqual([
      0, 32, 0, 0, 0, 32, 32, 32,
    ]);
  });

  it("says what it chose, and writes it as values", () => {
    const config = load("model.name=a/b");
    expect(modelNotes(config)).toEqual([
      "defaults for a/b: model.lora_rank=32 training.learning_rate=0.0003 rollout.n=8; model.lora_rank=0 trains all weights",
    ]);
    expect(modelNotes(load("model.name=builtin:shop-tiny"))).toEqual([]);
    expect(
      modelNotes(load("model={name: a/b, lora_rank: 0}", "training.learning_rate=1e-6")),
    ).toEqual([]);
    const { tree } = loadConfig({ overrides: ["model.name=a/b"] });
    expect(tree).toMatchObject({ model: { lora_rank: 32 }, training: { learning_rate: 3e-4 } });
    expect(parseConfigTree(tree)).toEqual(config);
  });

  it("are chosen again for the backend that code passes", () => {
    const small = load("model.name=builtin:shop-tiny");
    expect(withBackend(small, "tinker")).toMatchObject({
      backend: "tinker",
      model: { loraRank: 32 },
    });
    expect(withBackend(small, { name: "tinker" })).toMatchObject({
      backend: "local",
      model: { loraRank: 32 },
    });
    const large = load("model.name=a/b");
    expect(withBackend(large, { name: "mine" })).toMatchObject({
      model: { loraRank: 0 },
      training: { learningRate: 1e-4 },
    });
    const set = load("model={name: a/b, lora_rank: 4}");
    expect(withBackend(set, { name: "mine" }).model.loraRank).toBe(4);
  });
});
