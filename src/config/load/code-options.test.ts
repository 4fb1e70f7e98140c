import { describe, expect, expectTypeOf, it } from "vitest";
import { loadConfig, resolveConfig } from "../load.ts";
import type { TrainOptions } from "../train-options.ts";

const texts = (...overrides: string[]) => loadConfig({ overrides }).config;

describe("options in code", () => {
  it("are those of files in camelCase", () => {
    const options: TrainOptions = {
      model: { name: "m", loraRank: 8 },
      data: { trainBatchSize: 4 },
      rollout: { n: 16, train: { topP: 0.9 }, val: { maxTokens: 7 } },
      algorithm: { klCtrl: { klCoef: 0.01 }, overlongBuffer: { enable: true, penaltyFactor: 2 } },
      training: { learningRate: 5e-4, lrSchedule: "cosine" },
    };
    expect(resolveConfig(options)).toEqual(
      texts(
        "model={name: m, lora_rank: 8}",
        "data.train_batch_size=4",
        "rollout={n: 16, train: {top_p: 0.9}, val: {max_tokens: 7}}",
        "algorithm.kl_ctrl.kl_coef=0.01",
        "algorithm.overlong_buffer={enable: true, penalty_factor: 2}",
        "training={learning_rate: 5e-4, lr_schedule: cosine}",
      ),
    );
  });

  it("may be dotted, in either case, and mixed with sections", () => {
    const options: TrainOptions = {
      "model.name": "m",
      training: { beta1: 0.8 },
      "training.learning_rate": 1e-3,
      "rollout.train.maxTokens": 9,
    };
    expect(resolveConfig(options)).toEqual(
      texts(
        "model.name=m",
        "training={beta1: 0.8, learning_rate: 1e-3}",
        "rollout.train.max_tokens=9",
      ),
    );
  });

  it("keep names of the user as they are", () => {
    const { algorithm } = resolveConfig({
      model: { name: "m" },
      algorithm: { estimatorByRole: { fastSolver: "rloo" } },
    });
    expect(algorithm.estimatorByRole).toEqual([{ role: "fastSolver", type: "rloo" }]);
  });

  it("that do not exist are named as they were written", () => {
    const wrong = { model: { name: "m" }, training: { learningRat: 1 } } as TrainOptions;
    expect(() => resolveConfig(wrong)).toThrow(/learningRat\b/u);
  });

  it("are checked by the compiler", () => {
    expectTypeOf<{ training: { learningRate: number } }>().toExtend<TrainOptions>();
    expectTypeOf<{ training: { learningRate: string } }>().not.toExtend<TrainOptions>();
    // @ts-expect-error no such option
    const misspelled: TrainOptions = { training: { learningRat: 1 } };
    expect(misspelled).toBeDefined();
  });
});
