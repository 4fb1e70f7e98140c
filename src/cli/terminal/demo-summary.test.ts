import { describe, expect, it } from "vitest";
import { createDemoRecorder } from "./demo-summary.ts";

describe("createDemoRecorder", () => {
  it("keeps the first and last numbers, and when the weights first changed", () => {
    let clock = 0;
    const recorder = createDemoRecorder(() => ++clock);
    const step = (number: number, reward: number, skipped: number): void =>
      recorder.onEvent({
        ...{ type: "step-end", step: number, time: 0 },
        metrics: { "reward/mean": reward, "train/skipped_steps": skipped },
      });
    const validation = (number: number, reward: number): void =>
      recorder.onEvent({
        ...{ type: "validation-end", step: number, time: 0, episodes: [] },
        metrics: { "val/reward/mean": reward },
      });
    validation(0, 0.1);
    step(1, 0.2, 1);
    expect(clock).toBe(0);
    step(2, 0.3, 0);
    step(3, 0.4, 0);
    validation(3, 0.5);
    expect(recorder.result({ steps: 3, seed: 7, runDir: "r" })).toEqual({
      ...{ rewardFirst: 0.2, rewardLast: 0.4, valFirst: 0.1, valLast: 0.5 },
      ...{ secondsToFirstUpdate: 1, seconds: 2, steps: 3, seed: 7, runDir: "r" },
    });
  });
  it("has nulls for what a run did not reach", () => {
    const recorder = createDemoRecorder(() => 1);
    expect(recorder.result({ steps: 0, seed: 0, runDir: "r" })).toMatchObject({
      ...{ rewardFirst: null, valLast: null, secondsToFirstUpdate: null },
    });
  });
});
