import { describe, expect, it } from "vitest";
import { defaultSampling } from "../../core/policy.ts";
import type { Step } from "../../core/trajectory.ts";
import { makeStep } from "../../../test/make-step.ts";
import type { Trace } from "../../core/trace.ts";
import { samplingLogprobs, trainedTemperature } from "./trainable-step.ts";

const raw = Float32Array.of(-1, -2);
const tempered = Float32Array.of(-0.5, -2.5);

function step(
  temperature: number,
  fields: Partial<Pick<Trace, "logprobKind" | "temperedLogprobs">> = {},
): Step {
  return makeStep({
    responseIds: Int32Array.of(2, 3),
    logprobs: raw,
    sampling: { ...defaultSampling, temperature, seed: 0, stopTokenIds: [] },
    ...fields,
  });
}

const both = { temperedLogprobs: tempered };
const processed = { logprobKind: "processed" } as const;

describe("the policy that a step trains", () => {
  it.each([
    [0.7, "sampling", 0.7],
    [1, "sampling", 1],
    // Greedy sampling has no policy of its own.
    [0, "sampling", 1],
    [0.7, "one", 1],
  ] as const)("sampled at %d, %s: that at temperature %d", (sampled, which, expected) => {
    expect(trainedTemperature(step(sampled), which)).toBe(expected);
  });

  it.each([
    ["at temperature 1, those told", step(1), 1, raw],
    ["at temperature 1 of a server that gives processed ones", step(1, processed), 1, raw],
    ["greedy", step(0), 1, raw],
    ["at 0.7, the tempered ones", step(0.7, both), 0.7, tempered],
    ["at 0.7, processed ones of a server", step(0.7, processed), 0.7, raw],
    ["at 0.7, nobody told any but raw ones", step(0.7), 0.7, null],
    ["trained at 1 though sampled at 0.7: raw ones", step(0.7, both), 1, raw],
    ["trained at 1 though sampled at 0.7: processed ones do not do", step(0.7, processed), 1, null],
  ])("%s", (_, given, temperature, expected) => {
    expect(samplingLogprobs(given, temperature)).toBe(expected);
  });
});
