import { describe, expect, it } from "vitest";
import { countTargets } from "../../core/loss/aggregation.ts";
import type { TrainingRow } from "../../core/loss/training-row.ts";
import type { Episode, Step, TrajectoryGroup } from "../../core/trajectory.ts";
import { createRandom } from "../../util/random.ts";
import { makeStep } from "../../../test/make-step.ts";
import { buildRows, type RowLayouts } from "./rows.ts";

function step(
  traceId: string,
  prompt: readonly number[],
  response: readonly number[],
  logprobs: readonly number[] = response.map(() => -0.5),
): Step {
  return makeStep({
    id: traceId,
    promptIds: Int32Array.from(prompt),
    responseIds: Int32Array.from(response),
    logprobs: Float32Array.from(logprobs),
    weightVersion: Number(traceId.slice(1)),
  });
}

const changed = ({ trace, ...rest }: Step, fields: Partial<Step["trace"]>): Step => ({
  ...rest,
  trace: { ...trace, ...fields },
});

function group(...members: readonly (readonly Step[])[]): TrajectoryGroup {
  return {
    id: "task:x",
    taskId: "task",
    name: "x",
    members: members.map((steps, rolloutIndex) => {
      const trajectory = {
        uid: `u${rolloutIndex}`,
        name: "x",
        steps,
        reward: 1,
        signals: {},
        metadata: {},
      };
      const episode: Episode = {
        id: `1/task/${rolloutIndex}`,
        task: { id: "task", instruction: "", metadata: {} },
        rolloutIndex,
        trajectories: [trajectory],
        output: undefined,
        isCorrect: true,
        reward: 1,
        terminationReason: "completed",
        metrics: {},
        metadata: {},
        attempts: 1,
      };
      return { trajectory, episode, reward: 1 };
    }),
  };
}

function rowsOf(...steps: readonly Step[]): ReturnType<typeof buildRows> {
  return buildRows([group(steps)], [Float64Array.of(1)]);
}

const tokensOf = (rows: readonly TrainingRow[]): number[][] => rows.map((row) => [...row.tokens]);

describe("temperatures", () => {
  const sampledAt = (temperature: number, of: Step, tempered = true): Step =>
    changed(of, {
      sampling: { ...of.trace.sampling, temperature },
      ...(tempered ? { temperedLogprobs: of.trace.logprobs.map((l) => 2 * l) } : {}),
    });

  it("a row has that of its steps, and log-probabilities at it", () => {
    const turns = [
      sampledAt(0.7, step("t0", [1, 2], [3])),
      sampledAt(0.7, step("t1", [1, 2, 3, 4], [5])),
    ];
    const [row] = rowsOf(...turns).rows;
    expect(row).toMatchObject({ temperature: 0.7 });
    expect([...row!.samplingLogprobs]).toEqual([0, 0, -1, 0, -1]);
    expect(row).not.toHaveProperty("lacksSamplingLogprobs");
    const [one] = buildRows([group(turns)], [[1]], { logprobTemperature: "one" }).rows;
    expect(one).not.toHaveProperty("temperature");
    expect([...one!.samplingLogprobs]).toEqual([0, 0, -0.5, 0, -0.5]);
  });

  it("turns at different ones become different rows, unless all train that at 1", () => {
    const turns = [
      sampledAt(0.7, step("t0", [1, 2], [3])),
      sampledAt(1.3, step("t1", [1, 2, 3, 4], [5])),
      sampledAt(0.7, step("t2", [1, 2, 3, 6], [7])),
    ];
    const { rows, metrics } = rowsOf(...turns);
    expect(tokensOf(rows)).toEqual([
      [1, 2, 3, 6, 7],
      [1, 2, 3, 4, 5],
    ]);
    expect(rows.map(({ temperature }) => temperature)).toEqual([0.7, 1.3]);
    expect(metrics["rows/breaks/temperature_changed"]).toBe(1);
    const together = buildRows([group(turns.slice(0, 2))], [[1]], { logprobTemperature: "one" });
    expect(tokensOf(together.rows)).toEqual([[1, 2, 3, 4, 5]]);
    // Greedy counts as 1.
    const greedy = [sampledAt(0, step("t0", [1, 2], [3])), step("t1", [1, 2, 3, 4], [5])];
    expect(rowsOf(...greedy).rows).toHaveLength(1);
  });

  it("a row says that it lacks log-probabilities where a turn was told of other ones only", () => {
    const turns = [
      sampledAt(0.7, step("t0", [1, 2], [3])),
      sampledAt(0.7, step("t1", [1, 2, 3, 4], [5]), false),
    ];
    expect(rowsOf(...turns).rows[0]).toMatchObject({ lacksSamplingLogprobs: true });
  });

  it("a call whose tempered log-probabilities are no numbers, or too few, costs itself", () => {
    const good = sampledAt(0.7, step("t0", [1, 2], [3, 4]));
    const odd = changed(good, { temperedLogprobs: Float32Array.of(-1, Number.NaN) });
    const few = changed(good, { temperedLogprobs: Float32Array.of(-1) });
    const { rows, metrics } = rowsOf(odd, few);
    expect(rows).toEqual([]);
    expect(metrics).toMatchObject({
      "rows/dropped/logprobs_not_finite": 1,
      "rows/dropped/logprobs_length": 1,
    });
  });
});

it("tells which weights drew which part of a response", () => {
  const changes = [
    { at: 0, weightVersion: 4 },
    { at: 2, weightVersion: 5 },
  ];
  const cut = changed(step("t3", [1, 2], [3, 4, 5]), { weightChanges: changes });
  const later = changed(step("t6", [1, 2, 3, 4, 5], [6, 7]), {
    weightChanges: [{ at: 1, weightVersion: 7 }],
  });
  const { rows } = buildRows([group([cut, later])], [[1]]);
  const responses = rows[0]?.segments.filter(({ kind }) => kind === "response");
  expect(responses?.map(({ start, end, weightVersion }) => [start, end, weightVersion])).toEqual([
    [2, 4, 4],
    [4, 5, 5],
    [5, 6, 6],
    [6, 7, 7],
  ]);
});

describe("buildRows", () => {
  it("merges two turns into one row", () => {
    const { rows, metrics } = rowsOf(
      step("t1", [1, 2], [3, 4], [-0.1, -0.2]),
      step("t2", [1, 2, 3, 4, 5], [6], [-0.3]),
    );
    expect(rows).toEqual([
      {
        tokens: Int32Array.of(1, 2, 3, 4, 5, 6),
        targetMask: Uint8Array.of(0, 0, 1, 1, 0, 1),
        samplingLogprobs: Float32Array.of(0, 0, -0.1, -0.2, 0, -0.3),
        advantages: Float32Array.of(0, 0, 1, 1, 0, 1),
        segments: [
          { start: 0, end: 2, kind: "prompt", traceId: "t1", weightVersion: 1 },
          { start: 2, end: 4, kind: "response", traceId: "t1", weightVersion: 1 },
          { start: 4, end: 5, kind: "prompt", traceId: "t2", weightVersion: 2 },
          { start: 5, end: 6, kind: "response", traceId: "t2", weightVersion: 2 },
        ],
        provenance: {
          taskId: "task",
          episodeId: "1/task/0",
          rolloutIndex: 0,
          trajectoryUid: "u0",
          trajectoryName: "x",
        },
      },
    ]);
    expect(metrics).toMatchObject({
      "rows/count": 1,
      "rows/steps": 2,
      "rows/tokens": 6,
      "rows/trained_tokens": 3,
      "rows/steps_per_row": 2,
      "rows/response_length/mean": 4,
      "rows/sampled_fraction/mean": 0.75,
      "rows/per_trajectory/max": 1,
    });
  });

  it("starts a new row where sampled tokens came back changed, and says so", () => {
    const { rows, metrics } = rowsOf(
      step("t1", [1, 2], [3, 4], [-0.1, -0.2]),
      step("t2", [1, 2, 9, 5], [6], [-0.3]),
    );
    expect(tokensOf(rows)).toEqual([
      [1, 2, 3, 4],
      [1, 2, 9, 5, 6],
    ]);
    expect(rows[1]?.targetMask).toEqual(Uint8Array.of(0, 0, 0, 0, 1));
    expect(metrics).toMatchObject({ "rows/breaks/response_changed": 1, "rows/steps_per_row": 1 });
  });

  it("merges a prompt that adds nothing", () => {
    const { rows } = rowsOf(step("t1", [1], [2]), step("t2", [1, 2], [3]));
    expect(tokensOf(rows)).toEqual([[1, 2, 3]]);
    expect(rows[0]?.segments.map((s) => [s.start, s.end, s.kind])).toEqual([
      [0, 1, "prompt"],
      [1, 2, "response"],
      [2, 3, "response"],
    ]);
  });

  it.each([
    ["prompt_changed", [7, 2, 3, 4, 5]],
    ["response_changed", [1, 2, 3, 7, 5]],
    ["branched", [1, 2, 3, 4, 7, 5]],
    ["response_changed", [1, 2, 3, 4, 5, 7]],
    ["prompt_shorter", [1, 2, 3, 4, 5]],
    ["prompt_shorter", [1, 2, 3]],
    ["prompt_shorter", [1]],
  ])("names the break: %s %j", (reason, prompt) => {
    const { rows, metrics } = rowsOf(
      step("t1", [1, 2], [3, 4]),
      step("t2", [1, 2, 3, 4, 5], [6]),
      step("t3", prompt, [8]),
    );
    expect(tokensOf(rows)).toEqual([
      [1, 2, 3, 4, 5, 6],
      [...prompt, 8],
    ]);
    const breaks = Object.entries(metrics).filter(([key]) => key.startsWith("rows/breaks/"));
    expect(breaks.filter(([, count]) => count > 0)).toEqual([[`rows/breaks/${reason}`, 1]]);
  });

  it("makes one row per conversation of two that are interleaved", () => {
    const { rows, metrics } = rowsOf(
      step("t1", [1], [2]),
      step("t2", [5], [6]),
      step("t3", [1, 2, 3], [4]),
      step("t4", [5, 6, 7], [8]),
    );
    expect(tokensOf(rows)).toEqual([
      [1, 2, 3, 4],
      [5, 6, 7, 8],
    ]);
    expect(metrics["rows/breaks/prompt_changed"]).toBe(1);
  });

  it("gives up a step that cannot be trained on and nothing else", () => {
    const { rows, metrics } = buildRows(
      [
        group(
          [
            step("t1", [1], [2]),
            step("t2", [1, 2, 3], [4], []),
            step("t3", [1, 2, 3, 4, 5], [6]),
            step("t4", [9], []),
            step("t5", [], [9]),
            step("t6", [9], [9], [-Infinity]),
          ],
          [step("t7", [1], [3])],
        ),
      ],
      [Float64Array.of(1, NaN)],
    );
    // The lost answer stays as context of what came after it.
    expect(tokensOf(rows)).toEqual([[1, 2, 3, 4, 5, 6]]);
    expect(rows[0]?.targetMask).toEqual(Uint8Array.of(0, 1, 0, 0, 0, 1));
    expect(metrics).toMatchObject({
      "rows/dropped/logprobs_length": 1,
      "rows/dropped/no_response_tokens": 1,
      "rows/dropped/no_prompt_tokens": 1,
      "rows/dropped/logprobs_not_finite": 1,
      "rows/dropped/advantage_not_finite": 1,
      "rows/steps": 2,
    });
  });

  it("leaves out what was cut off where it is to: the whole of one conversation, one row of several", () => {
    const cut = (of: Step): Step => changed(of, { stopReason: "length" });
    const built = (...steps: readonly Step[]) =>
      buildRows([group(steps)], [[1]], { skipTruncated: true });
    const [a, b, c] = [step("t1", [1], [2]), step("t2", [1, 2, 3], [4]), step("t3", [9], [8, 7])];
    expect(tokensOf(built(a, cut(b)).rows)).toEqual([]);
    expect(built(a, cut(b)).metrics).toMatchObject({ "rows/dropped/truncated": 2 });
    // One that cannot be trained on either is a part of the only one.
    const lost = changed(cut(b), { logprobs: new Float32Array(0) });
    expect(tokensOf(built(a, lost).rows)).toEqual([]);
    // A sub-agent that was cut off costs itself.
    const beside = built(a, cut(c), b);
    expect(tokensOf(beside.rows)).toEqual([[1, 2, 3, 4]]);
    expect(beside.metrics).toMatchObject({ "rows/dropped/truncated": 1, "rows/count": 1 });
    expect(beside.rows[0]).not.toHaveProperty("sequence");
    expect(tokensOf(built(cut(a), c, b).rows)).toEqual([[9, 8, 7]]);
    expect(tokensOf(built(a, b, c).rows)).toHaveLength(2);
  });

  it("keeps rows without a signal, and each member's own advantage", () => {
    const { rows } = buildRows(
      [group([step("t1", [1], [2])], [step("t2", [1], [3])]), group([step("t3", [1], [4])])],
      [Float64Array.of(0, -2), Float64Array.of(3)],
    );
    expect(rows.map((row) => row.advantages[1])).toEqual([0, -2, 3]);
    expect(rows.map((row) => row.provenance.rolloutIndex)).toEqual([0, 1, 0]);
  });

  it("refuses advantages of other groups", () => {
    expect(() => buildRows([group([step("t1", [1], [2])])], [])).toThrow(
      /Member 0 of group "task:x"/u,
    );
  });

  it("gives finite metrics for no groups", () => {
    const { rows, metrics } = buildRows([], []);
    expect(rows).toEqual([]);
    expect(Object.values(metrics).every(Number.isFinite)).toBe(true);
  });

  it("trains exactly the sampled ids, each once, whatever the conversation did", () => {
    for (let seed = 0; seed < 300; seed++) {
      const random = createRandom(seed);
      const sample = (below: number): number => Math.floor(random() * below);
      // Few distinct ids, so that accidental matches happen too.
      const ids = (length: number): number[] => Array.from({ length }, () => sample(3));
      const steps: Step[] = [];
      for (let i = 0; i < 8; i++) {
        const base =
          steps.length > 0 && random() < 0.8 ? steps[sample(steps.length)]?.trace : undefined;
        const past = base === undefined ? [] : [...base.promptIds, ...base.responseIds];
        if (past.length > 0 && random() < 0.2) past[sample(past.length)] = 3;
        const response = ids(1 + sample(4));
        const logprobs = response.map(() => -random());
        steps.push(
          step(`t${i}`, [...past, ...ids(past.length > 0 ? sample(3) : 1)], response, logprobs),
        );
      }
      const { rows, metrics } = rowsOf(...steps);

      const total = steps.reduce((sum, s) => sum + s.trace.responseIds.length, 0);
      expect(rows.reduce((sum, row) => sum + countTargets(row), 0)).toBe(total);
      expect(metrics["rows/trained_tokens"]).toBe(total);
      const breaks = Object.entries(metrics)
        .filter(([key]) => key.startsWith("rows/breaks/"))
        .reduce((sum, [, count]) => sum + count, 0);
      expect(breaks).toBe(rows.length - 1);

      const seen: string[] = [];
      for (const row of rows) {
        expect(row.segments[0]?.start).toBe(0);
        expect(row.segments.at(-1)?.end).toBe(row.tokens.length);
        for (const [i, segment] of row.segments.entries()) {
          expect(segment.start).toBe(i === 0 ? 0 : row.segments[i - 1]?.end);
          const mask = row.targetMask.subarray(segment.start, segment.end);
          expect(mask.every((value) => value === (segment.kind === "response" ? 1 : 0))).toBe(true);
          if (segment.kind === "prompt") continue;
          const source = steps.find((s) => s.trace.id === segment.traceId)?.trace;
          seen.push(segment.traceId);
          expect(row.tokens.slice(segment.start, segment.end)).toEqual(source?.responseIds);
          expect(row.samplingLogprobs.slice(segment.start, segment.end)).toEqual(source?.logprobs);
          // What the policy saw when it drew these tokens is what the row puts before them.
          expect(row.tokens.slice(0, segment.start)).toEqual(source?.promptIds);
        }
        for (const [i, target] of row.targetMask.entries()) {
          expect(row.advantages[i]).toBe(target);
          expect(target === 1 || row.samplingLogprobs[i] === 0).toBe(true);
        }
      }
      expect(seen.toSorted()).toEqual(steps.map((s) => s.trace.id));
    }
  });
});

describe("layouts", () => {
  const groups = [
    group(
      [step("t1", [1], [2]), step("t2", [1, 2, 3], [4])],
      [step("t3", [1], [5]), step("t4", [6], [7]), step("t5", [8], [9])],
    ),
  ];
  // The second build drops a step in the middle, so the sequence around it is another one.
  const others = [[Float64Array.of(0.5, -1), [1, null, 2]]];

  it("give the rows of a build without them, and share what does not depend on advantages", () => {
    const layouts: RowLayouts = new Map();
    const first = buildRows(groups, [new Float64Array(2)], { layouts }).rows;
    expect(first).toEqual(buildRows(groups, [new Float64Array(2)]).rows);
    const second = buildRows(groups, others, { layouts }).rows;
    expect(second).toEqual(buildRows(groups, others).rows);
    expect(second[0]!.tokens).toBe(first[0]!.tokens);
    expect(second[0]!.targetMask).toBe(first[0]!.targetMask);
    expect([...first[0]!.advantages]).toEqual([0, 0, 0, 0]);
  });

  it("are not used for a sequence of other steps", () => {
    const layouts: RowLayouts = new Map();
    const [turns] = groups;
    buildRows([turns!], [new Float64Array(2)], { layouts });
    const advantages = [[[1, null], 0]];
    const { rows } = buildRows([turns!], advantages, { layouts });
    expect(rows).toEqual(buildRows([turns!], advantages).rows);
    expect([...rows[0]!.tokens]).toEqual([1, 2]);
  });
});
