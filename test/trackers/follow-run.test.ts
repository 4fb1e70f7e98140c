import { describe, expect, it, vi } from "vitest";
import type { TrainerEvent } from "../../src/core/events.ts";
import type { Tracker } from "../../src/core/tracker.ts";
import { followRun } from "../../src/trackers/follow-run.ts";
import { coinTrainer, readLines } from "../trainer/coin-run.ts";

const stepEnd = (step: number): TrainerEvent => ({ type: "step-end", step, time: 0, metrics: {} });
const runEnd: TrainerEvent = {
  type: "run-end",
  step: 3,
  time: 0,
  status: "completed",
  message: null,
};

function recorder(track: Tracker["track"] = () => {}): {
  readonly tracker: Tracker;
  readonly seen: string[];
} {
  const seen: string[] = [];
  const tracker: Tracker = {
    name: "mine",
    events: ["step-end", "run-end"],
    async track(event, signal) {
      await track(event, signal);
      seen.push(`${event.type} ${event.step}`);
    },
    close() {
      seen.push("close");
    },
  };
  return { tracker, seen };
}

describe("followRun", () => {
  it("passes events on one at a time, in order, and closes after the last", async () => {
    let running = 0;
    let most = 0;
    const { tracker, seen } = recorder(async () => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
    });
    const warnings: string[] = [];
    const followers = followRun([tracker], {
      timeoutMs: 5000,
      warn: (text) => warnings.push(text),
    });
    followers.track({ type: "checkpoint-save", step: 1, time: 0, path: "not asked for" });
    for (const step of [1, 2, 3]) followers.track(stepEnd(step));
    expect(seen).toEqual([]);
    await followers.end(runEnd);
    expect(seen).toEqual(["step-end 1", "step-end 2", "step-end 3", "run-end 3", "close"]);
    expect(most).toBe(1);
    expect(warnings).toEqual([]);
  });

  it("drops a tracker that throws, with one warning without keys, and still closes it", async () => {
    const { tracker, seen } = recorder((event) => {
      if (event.step === 2) throw new Error("Bearer abcdef123456 was refused");
    });
    const warnings: string[] = [];
    const followers = followRun([tracker], {
      timeoutMs: 5000,
      warn: (text) => warnings.push(text),
    });
    for (const step of [1, 2, 3]) followers.track(stepEnd(step));
    await followers.end(runEnd);
    expect(seen).toEqual(["step-end 1", "close"]);
    expect(warnings).toEqual([
      "The tracker mine failed: Bearer [redacted] was refused. It receives nothing more of this run.",
    ]);
  });

  it("drops a tracker that hangs, and ends within its deadlines", async () => {
    const aborted: boolean[] = [];
    const { tracker } = recorder(async (_event, signal) => {
      signal.addEventListener("abort", () => aborted.push(true));
      await new Promise(() => {});
    });
    const warnings: string[] = [];
    const followers = followRun([tracker], { timeoutMs: 50, warn: (text) => warnings.push(text) });
    followers.track(stepEnd(1));
    await followers.end(runEnd);
    await vi.waitFor(() => expect(aborted).toEqual([true]));
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(/^The tracker mine did not .* 0\.05 s/u);
  });

  it("drops a tracker for which too many events wait", async () => {
    const { tracker, seen } = recorder();
    const warnings: string[] = [];
    const followers = followRun([tracker], {
      timeoutMs: 5000,
      warn: (text) => warnings.push(text),
    });
    for (let step = 0; step <= 10_000; step++) followers.track(stepEnd(step));
    await followers.end(runEnd);
    expect(warnings).toEqual([
      "The tracker mine is too slow: 10000 events wait for it. It receives nothing more of this run.",
    ]);
    expect(seen).toEqual(["close"]);
  });
});

describe("a run with trackers", () => {
  it("is told everything it names, the end last, and a failing one becomes a warning", async () => {
    const { tracker, seen } = recorder();
    const broken: Tracker = {
      name: "broken",
      events: ["run-start"],
      track() {
        throw new Error("no route to host");
      },
    };
    const { trainer, events } = coinTrainer({ trackers: [tracker, broken] });
    const { runDir, status } = await trainer.train();
    expect(status).toBe("completed");
    expect(seen).toEqual(
      [1, 2, 3, 4].map((step) => `step-end ${step}`).concat("run-end 4", "close"),
    );
    const warnings = events.flatMap((event) => (event.type === "warning" ? [event.message] : []));
    expect(warnings.filter((text) => text.includes("broken"))).toEqual([
      "The tracker broken failed: no route to host. It receives nothing more of this run.",
    ]);
    const written = readLines(runDir, "events.jsonl");
    expect(written.at(-1)).toMatchObject({ type: "run-end", status: "completed" });
    // The episode of an event is for trackers; the log has them once, in episodes/.
    expect(written.filter(({ type }) => type === "rollout-end")).toHaveLength(32);
    expect(written.some((line) => "episode" in line)).toBe(false);
  });

  it("tells them how a failed run ended", async () => {
    const { tracker, seen } = recorder();
    const { trainer } = coinTrainer({
      trackers: [tracker],
      agentFlow: () => {
        throw new Error("broken agent");
      },
    });
    await expect(trainer.train()).rejects.toThrow("broken agent");
    expect(seen.slice(-2)).toEqual([expect.stringMatching(/^run-end/u), "close"]);
  });
});
