import { describe, expect, it } from "vitest";
import { reportTrajectory } from "../core/agent.ts";
import { readFlowResult } from "./flow-result.ts";

describe("readFlowResult", () => {
  const report = reportTrajectory({ name: "solver", reward: 1 });

  it.each([["text"], [0], [undefined], [null], [{ answer: 1 }], [[]], [["a", 1]]])(
    "takes %j as a plain output",
    (value) => {
      expect(readFlowResult(value)).toEqual({ reports: [], output: value });
    },
  );

  it("takes one report or a list of them", () => {
    expect(readFlowResult(report)).toEqual({ reports: [report], output: undefined });
    expect(readFlowResult([report, report]).reports).toHaveLength(2);
  });

  it.each([
    [[report, "x"], 'item 1 is "x"'],
    [[undefined, report], "item 0 is undefined"],
    [() => 1, "returned a function"],
    [{ ...report, name: "" }, 'its name is ""'],
    [{ kind: "trajectory" }, "its name is undefined"],
    [{ ...report, reward: NaN }, "has the reward NaN"],
    [{ ...report, reward: "1" }, 'has the reward "1"'],
    [{ ...report, uid: 7 }, "has the uid 7"],
    [{ ...report, metadata: 1 }, "has the metadata 1"],
  ])("refuses %j", (value, named) => {
    expect(() => readFlowResult(value)).toThrow(
      expect.objectContaining({
        code: "ROLLOUT_FAILED",
        message: expect.stringContaining(named) as string,
      }),
    );
  });
});
