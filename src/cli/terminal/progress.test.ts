import { stripVTControlCharacters } from "node:util";
import { describe, expect, it } from "vitest";
import type { TrainerEvent } from "../../core/events.ts";
import { bar, createProgress, duration } from "./progress.ts";

const metrics = {
  "reward/mean": 0.5,
  "rollout/pass@1": 0.25,
  "train/loss": 0.1234,
  "tokens/per_s": 100,
  "time/step_s": 2,
};

const events: TrainerEvent[] = [
  {
    type: "run-start",
    runDir: "runs/a",
    seed: 1,
    totalSteps: 2,
    resumedFrom: null,
    step: 0,
    time: 0,
  },
  { type: "step-start", tasks: 1, rollouts: 2, step: 1, time: 0 },
  {
    ...{ type: "rollout-end", episodeId: "e", taskId: "t", reward: 1, isValidation: false },
    ...{ terminationReason: "completed", step: 1, time: 0 },
  },
  { type: "step-end", metrics, step: 1, time: 0 },
  { type: "warning", message: "careful\u001B[2J", step: 1, time: 0 },
];

function shown(
  stream: { isTTY?: boolean; columns?: number },
  isQuiet = false,
  list: readonly TrainerEvent[] = events,
): string {
  let text = "";
  const progress = createProgress({
    stream: { ...stream, write: (part: string) => (text += part) },
    isQuiet,
    now: () => 0,
    env: { NO_COLOR: "1" },
  });
  for (const event of list) progress.onEvent(event);
  progress.clear();
  return text;
}

describe("createProgress", () => {
  it("prints plain lines without a terminal", () => {
    expect(shown({})).toBe(
      [
        "run runs/a  seed 1",
        "step 1/2 reward 0.500  pass 25 %  loss 0.1234  tok/s 100  time 2.0s",
        "warning: careful",
        "",
      ].join("\n"),
    );
  });
  it("rewrites a line in place on a terminal, and leaves a table behind", () => {
    const text = shown({ isTTY: true, columns: 60 });
    const lines = text.split("\r\u001B[2K");
    expect(lines.some((line) => line.startsWith("step 1/2  ███░░░░░░░"))).toBe(true);
    for (const line of lines.flatMap((part) => part.split("\n"))) {
      expect(line.length).toBeLessThan(60);
    }
    expect(text).toContain("     step    reward      pass      loss     tok/s      time\n");
    expect(text).toContain("      1/2     0.500      25 %    0.1234       100      2.0s\n");
    expect(text.endsWith("\n")).toBe(true);
  });
  it("shows a validation as it goes, with the time left once its length is known", () => {
    let text = "";
    let time = 0;
    const progress = createProgress({
      stream: { isTTY: true, columns: 80, write: (part: string) => (text += part) },
      isQuiet: false,
      now: () => time,
      env: {},
    });
    const seen = (): string | undefined => text.match(/validating [^\r\n]*/gu)?.at(-1);
    const end = { ...(events[2] as TrainerEvent), isValidation: true } as TrainerEvent;
    const ended = { type: "validation-end", metrics: {}, episodes: [], step: 0, time: 0 } as const;
    progress.onEvent(events[0]!);
    for (let i = 0; i < 4; i++) progress.onEvent(end);
    expect(seen()).toBe("validating 4 done  reward 1.000");
    progress.onEvent(ended);
    progress.onEvent(end);
    time = 5000;
    progress.onEvent({ ...end, reward: 0 } as TrainerEvent);
    expect(seen()).toBe("validating 2/4  reward 0.500  5s left");
  });
  it("says that it updates once the rollouts of a step have ended", () => {
    const ends = Array.from({ length: 2 }, () => events[2]!);
    const text = shown({ isTTY: true, columns: 80 }, false, [events[0]!, events[1]!, ...ends]);
    expect(text).toContain("rollouts 2/2  updating");
    expect(text.match(/updating/gu)).toHaveLength(1);
  });
  it("counts rollouts that are ready before a step, adds those that it needs more, and no later ones", () => {
    let text = "";
    const progress = createProgress({
      stream: { isTTY: true, columns: 80, write: (part: string) => (text += part) },
      isQuiet: false,
      now: () => 0,
      env: {},
    });
    const end = events[2] as TrainerEvent;
    const seen = (): string | undefined => text.match(/rollouts \d+\/\d+/gu)?.at(-1);
    progress.onEvent(events[0] as TrainerEvent);
    progress.onEvent({ type: "step-start", tasks: 1, rollouts: 2, ready: 1, step: 1, time: 0 });
    expect(seen()).toBe("rollouts 1/2");
    progress.onEvent(end);
    progress.onEvent(end);
    expect(seen()).toBe("rollouts 2/2");
    progress.onEvent({ type: "rollouts-added", tasks: 1, rollouts: 2, step: 1, time: 0 });
    expect(seen()).toBe("rollouts 3/4");
  });
  describe("failed and excluded rollouts", () => {
    const stepEnd = (own: Record<string, number>): TrainerEvent => ({
      ...{ type: "step-end", metrics: { ...metrics, ...own }, step: 1, time: 0 },
    });
    const start = events[0] as TrainerEvent;
    const failing = stepEnd({
      "rollout/episodes": 64,
      "rollout/failed": 22,
      "rollout/unused": 30,
    });

    it("are in the line of each step, which has no notes otherwise", () => {
      expect(shown({}, false, [start, failing])).toContain("time 2.0s  failed 22/64  unused 30\n");
      expect(shown({ isTTY: true, columns: 90 }, false, [start, failing])).toContain(
        "      2.0s  failed 22/64  unused 30\n",
      );
      const fine = stepEnd({ "rollout/episodes": 64, "rollout/failed": 0, "rollout/unused": 0 });
      expect(shown({}, false, [start, fine])).toMatch(/time 2\.0s\n$/u);
    });
    it("come with a reason when a step was skipped", () => {
      const skipped = stepEnd({
        "train/skipped_steps": 1,
        "rollout/unused": 8,
        "train/skip_reason/equal_rewards": 1,
      });
      expect(shown({}, false, [start, skipped])).toContain(
        "loss skipped  tok/s 100  time 2.0s  unused 8  (rewards equal)\n",
      );
    });
    it("are reported at the end of a run that learned nothing, also when quiet", () => {
      const message = "Nothing was learned: in 2 of 2 steps every rollout failed.";
      const end: TrainerEvent = {
        ...{ type: "run-end", status: "untrained", message, step: 2, time: 0 },
      };
      expect(shown({}, true, [start, end])).toBe(`warning: ${message}\n`);
    });
  });
  it("breaks long warnings and notices between words, where a terminal would break them anywhere", () => {
    const message = Array.from({ length: 40 }, (_, i) => `word${i}`).join(" ");
    for (const type of ["warning", "notice"] as const) {
      const event: TrainerEvent = { type, message, step: 1, time: 0 };
      const text = shown({ isTTY: true, columns: 80 }, false, [event]);
      const lines = stripVTControlCharacters(text).trim().split("\n");
      expect(lines.length).toBeGreaterThan(3);
      for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
      expect(lines.map((line) => line.trim()).join(" ")).toContain(message);
    }
  });
  it("prints only warnings when quiet", () => {
    expect(shown({}, true)).toBe("warning: careful\n");
    expect(shown({ isTTY: true }, true)).not.toContain("step 1");
  });
});

describe("duration", () => {
  it.each([
    [0.4, "0s"],
    [59, "59s"],
    [75, "1m 15s"],
    [3700, "1h 1m"],
  ])("%f: %s", (seconds, text) => {
    expect(duration(seconds)).toBe(text);
  });
});

describe("bar", () => {
  it.each([
    [0, "░░░░"],
    [0.5, "██░░"],
    [2, "████"],
    [-1, "░░░░"],
  ])("%f: %s", (share, text) => {
    expect(bar(share, 4)).toBe(text);
  });
});
