import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { buildTrainConfig, type BuildTrainConfigOptions, loadConfig } from "../index.ts";

const all = {
  modelName: "m",
  groupSize: 4,
  batchSize: 3,
  lr: 2e-5,
  loraRank: 8,
  totalEpochs: 2,
  totalSteps: 9,
  valFreq: 5,
  saveFreq: 7,
  project: "shop",
  experiment: "first",
  outputDir: "out",
} satisfies BuildTrainConfigOptions;

describe("buildTrainConfig", () => {
  it("sets the options that its names stand for", () => {
    const config = buildTrainConfig(all);
    expect(config).toMatchObject({
      model: { name: "m", loraRank: 8 },
      rollout: { n: 4 },
      data: { trainBatchSize: 3 },
      training: { learningRate: 2e-5 },
      trainer: {
        totalEpochs: 2,
        totalBatches: 9,
        testFreq: 5,
        saveFreq: 7,
        experimentName: "first",
        outputDir: "out",
      },
      tracking: { project: "shop" },
    });
    const written = [
      "model={name: m, lora_rank: 8}",
      "rollout.n=4",
      "data.train_batch_size=3",
      "training.learning_rate=2e-5",
      "trainer={total_epochs: 2, total_batches: 9, test_freq: 5, save_freq: 7}",
      "trainer={experiment_name: first, output_dir: out}",
      "tracking.project=shop",
    ];
    expect(config).toEqual(loadConfig({ overrides: written }).config);
  });

  it("lies over its file and under its overrides; null is not given", () => {
    const configFile = join(mkdtempSync(join(tmpdir(), "agent-trainer-build-")), "run.yaml");
    writeFileSync(configFile, "model: {name: of-file}\nrollout: {n: 2, n_val: 3}\n");
    const built = buildTrainConfig({
      configFile,
      groupSize: 5,
      modelName: null,
      overrides: { rollout: { nVal: 6 }, "rollout.train.max_tokens": 32 },
    });
    expect(built.model.name).toBe("of-file");
    expect(built.rollout).toMatchObject({ n: 5, nVal: 6, train: { maxTokens: 32 } });
    const strings = buildTrainConfig({ ...all, overrides: ["rollout.n=7", "~trainer.save_freq"] });
    expect([strings.rollout.n, strings.trainer.saveFreq]).toEqual([7, 10]);
  });

  it("checks names and values, and says both names of an option", () => {
    const build = (options: object) => () => buildTrainConfig(options);
    expect(build({ ...all, groupsize: 3 })).toThrow(
      expect.objectContaining({
        code: "CONFIG_INVALID",
        message: "buildTrainConfig has no option groupsize. Did you mean groupSize?",
        hint: expect.stringContaining("overrides"),
      }),
    );
    expect(build({ ...all, groupSize: 0, lr: 3 })).toThrow("The configuration has 2 problems");
    expect(build({ ...all, constructor: 1 })).toThrow("no option constructor");
  });

  it.each(Object.keys(all))("%s is its own name, and no option elsewhere", (name) => {
    const value = (all as Record<string, unknown>)[name];
    expect(() => loadConfig({ overrides: { "model.name": "m", [name]: value } })).toThrow(
      `Unknown option ${name}.`,
    );
  });
});
