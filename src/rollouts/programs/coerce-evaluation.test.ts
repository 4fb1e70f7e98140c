import { describe, expect, it } from "vitest";
import { coerceEvaluation } from "./coerce-evaluation.ts";

describe("coerceEvaluation", () => {
  const full = { reward: 0.5, isCorrect: false, signals: [{ name: "len", value: 3 }] };

  it.each([
    [true, { reward: 1, isCorrect: true }],
    [false, { reward: 0, isCorrect: false }],
    // A number alone does not say what is right.
    [0.25, { reward: 0.25, isCorrect: null }],
    [0, { reward: 0, isCorrect: null }],
    [-1, { reward: -1, isCorrect: null }],
    [
      { reward: 0.5, isCorrect: null },
      { reward: 0.5, isCorrect: null },
    ],
    [[0.2, false], { reward: 0.2, isCorrect: false }],
    [full, full],
  ])("accepts %j", (returned, expected) => {
    expect(coerceEvaluation(returned, "t")).toEqual(expected);
  });

  it.each([
    [NaN, "NaN"],
    [Infinity, "Infinity"],
    [undefined, "undefined"],
    [null, "null"],
    ["yes", '"yes"'],
    [[NaN, true], "the list [NaN, true]"],
    [[1, 1], "the list [1, 1]"],
    [[1, true, 2], "the list [1, true, 2]"],
    [{ isCorrect: true }, "the reward undefined"],
    [{ reward: NaN, isCorrect: true }, "the reward NaN"],
    [{ reward: 1 }, "isCorrect = undefined"],
    [{ ...full, signals: { len: 3 } }, 'signals = {"len":3}'],
    [{ ...full, signals: [{ name: "len", value: NaN }] }, 'the signal "len" = NaN'],
    [{ ...full, metadata: "x" }, 'metadata = "x"'],
  ])("refuses %j by name, with the task", (returned, named) => {
    expect(() => coerceEvaluation(returned, "a:b")).toThrow(
      expect.objectContaining({
        code: "EVALUATOR_FAILED",
        message: `The evaluator returned ${named} for task "a:b".`,
        fields: expect.objectContaining({ taskId: "a:b" }) as object,
      }),
    );
  });
});
