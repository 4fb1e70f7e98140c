/** What the editor knows of options: completion, types, and keys that do not exist. */
import { describe, expect, expectTypeOf, it } from "vitest";
import type { AdvantageEstimator } from "../algorithms/estimators.ts";
import type { LossFunction } from "../algorithms/losses/loss-function.ts";
import { configTypes } from "../../scripts/option-types.ts";
import { configFields } from "./fields.ts";
import type { AlgorithmOptions, TrainOptions } from "./train-options.ts";

type Section<K extends keyof TrainOptions> = NonNullable<TrainOptions[K]>;

/** Names that the editor completes, without the pattern for dotted ones. */
type Names<T> = keyof { [K in keyof T as `${string}.${string}` extends K ? never : K]: T[K] };

describe("options in the editor", () => {
  it("complete: every section and option has its own type", () => {
    expectTypeOf<"model" | "rollout" | "algorithm" | "training" | "trainer">().toExtend<
      Names<TrainOptions>
    >();
    expectTypeOf<string>().not.toExtend<Names<TrainOptions>>();
    expectTypeOf<Section<"training">["learningRate"]>().toEqualTypeOf<number | undefined>();
    expectTypeOf<"constant" | "linear" | "cosine">().toExtend<Section<"training">["lrSchedule"]>();
    expectTypeOf<"cosin">().not.toExtend<Section<"training">["lrSchedule"]>();
    expectTypeOf<NonNullable<Section<"rollout">["val"]>["topP"]>().toEqualTypeOf<
      number | undefined
    >();
    expectTypeOf<NonNullable<AlgorithmOptions["klCtrl"]>["klCoef"]>().toEqualTypeOf<
      number | undefined
    >();
  });

  it("take names that complete, or functions with typed parameters", () => {
    expectTypeOf<"rloo">().toExtend<AlgorithmOptions["estimator"]>();
    expectTypeOf<"rlooo">().not.toExtend<AlgorithmOptions["estimator"]>();
    expectTypeOf<AdvantageEstimator>().toExtend<AlgorithmOptions["estimator"]>();
    expectTypeOf<LossFunction>().toExtend<AlgorithmOptions["loss"]>();
    const options: TrainOptions = {
      algorithm: {
        loss: ({ logprob, samplingLogprob, advantage }) => {
          expectTypeOf(logprob).toEqualTypeOf<number>();
          return -Math.exp(logprob - samplingLogprob) * advantage;
        },
        estimatorByRole: { judge: "rloo" },
      },
    };
    expect(options.algorithm?.loss).toBeTypeOf("function");
  });

  it("are refused by the compiler where they do not exist", () => {
    const unknown: TrainOptions[] = [
      // @ts-expect-error no such section
      { trainning: {} },
      // @ts-expect-error no such option
      { rollout: { groupSize: 8 } },
      // @ts-expect-error no such option of a section in a section
      { rollout: { train: { topp: 0.9 } } },
      // @ts-expect-error no such option next to those that take functions
      { algorithm: { lossFunction: () => 0 } },
      // @ts-expect-error files write it in snake_case
      { training: { learning_rate: 1 } },
      // @ts-expect-error not one of the names
      { algorithm: { klEstimator: "k4" } },
    ];
    expect(unknown).toHaveLength(6);
  });

  it("have a text with meaning, values and default at every option", () => {
    const types = configTypes();
    for (const { key, default: value, variant } of configFields()) {
      const parts = key.split(".");
      const leaf = (key === `${variant?.of}.type` ? parts.at(-2) : parts.at(-1))!.replaceAll(
        /_(\w)/gu,
        (_, letter: string) => letter.toUpperCase(),
      );
      expect(types, key).toMatch(new RegExp(String.raw`\*/\n\s*readonly ${leaf}\?: `, "u"));
      if (value !== undefined) expect(types, key).toContain(`@default ${JSON.stringify(value)}`);
    }
    // What several types have is there for each.
    const described = types.match(/\*\/\n\s*readonly /gu)!.length;
    expect(described).toBeGreaterThanOrEqual(configFields().length);
  });
});
