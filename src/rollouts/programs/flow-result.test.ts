import { describe, expect, it } from "vitest";
import { defineEpisode, defineTrajectory } from "../../core/report.ts";
import { readFlowResult } from "./flow-result.ts";

describe("readFlowResult", () => {
  const report = defineTrajectory({ name: "solver", reward: 1 });

  it.each([["text"], [0], [undefined], [null], [{ response: 1 }], [[]], [["a", 1]]])(
    "takes %j as a plain output",
    (value) => {
      expect(readFlowResult(value)).toEqual({ reports: [], output: value });
    },
  );

  it("takes one report or a list of them", () => {
    expect(readFlowResult(report)).toEqual({ reports: [report], output: undefined });
    expect(readFlowResult([report, report]).reports).toHaveLength(2);
  });

  it("takes an episode, marked or by its shape, and keeps what it says of itself", () => {
    const said = { terminationReason: "env_done", metrics: { m: 1 }, metadata: { k: 2 } } as const;
    const episode = { trajectories: [{ steps: [], reward: null }], output: "o", ...said };
    const expected = {
      reports: [{ kind: "trajectory", name: "planner", steps: [] }],
      output: "o",
      ...said,
    };
    expect(readFlowResult(episode, "planner")).toEqual(expected);
    expect(readFlowResult({ ...episode, kind: "episode" }, "planner")).toEqual(expected);
  });

  it.each([
    [[report, "x"], 'item 1 is "x"'],
    [[undefined, report], "item 0 is undefined"],
    [() => 1, "returned a function"],
    [{ ...report, name: "" }, 'its name is ""'],
    [{ kind: "trajectory", name: 7 }, "its name is 7"],
    [{ ...report, train: 1 }, "has the train 1, which is not true or false"],
    [{ ...report, signals: { a: NaN } }, "has the signals.a NaN"],
    [{ ...report, steps: {} }, "has the steps {}, which is not a list"],
    [{ ...report, steps: [null] }, 'Step 0 of the trajectory report "solver" is null'],
    [{ ...report, steps: [{ reward: 1 }] }, "has the responseId undefined"],
    [{ ...report, steps: [{ responseId: "a", reward: "1" }] }, 'has the reward "1"'],
    [{ kind: "episode", trajectories: 1 }, "has the trajectories 1, which is not a list"],
    [{ trajectories: ["x"] }, 'returned an episode of trajectory reports, but item 0 is "x"'],
    [defineEpisode({ trajectories: [], metrics: { a: Infinity } }), "has the metrics.a Infinity"],
    [{ trajectories: [], terminationReason: "done" }, "one of completed, env_done"],
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
