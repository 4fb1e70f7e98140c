import { describe, expect, it } from "vitest";
import { byteRenderer as renderer, conversation, toolSays } from "../../../test/conversation.ts";
import { makeStep } from "../../../test/make-step.ts";
import type { ChatMessage } from "../../core/message.ts";
import type { Episode, TrajectoryGroup } from "../../core/trajectory.ts";
import { onlyObserved, withObservations } from "./observations.ts";
import { buildRows } from "./rows.ts";

function groupOf(answers: readonly (readonly ChatMessage[])[], first: readonly ChatMessage[] = []) {
  const steps = conversation(answers, first);
  const trajectory = { uid: "u", name: "agent", steps, reward: 1, signals: {}, metadata: {} };
  const episode = { id: "e", task: { id: "a" }, rolloutIndex: 0, trajectories: [trajectory] };
  const member = { trajectory, episode: episode as unknown as Episode, reward: 1 };
  return { id: "a:agent", taskId: "a", name: "agent", members: [member] } satisfies TrajectoryGroup;
}

function observed(group: TrajectoryGroup, weights: Record<string, number>) {
  const { rows } = buildRows([group], [[1]]);
  const found = withObservations(rows, [group], {
    renderer,
    weights: new Map(Object.entries(weights)),
  });
  const [row] = found.rows;
  const values = row!.observationWeights ?? new Float32Array(0);
  const texts = new Map<number, string>();
  for (const [i, weight] of values.entries())
    if (weight > 0)
      texts.set(
        weight,
        (texts.get(weight) ?? "") + renderer.decode(row!.tokens.subarray(i, i + 1)),
      );
  return { ...found, row: row!, texts: Object.fromEntries(texts) };
}

describe("withObservations", () => {
  it("weighs what tools answered, without the template, and nothing that was sampled", () => {
    const group = groupOf([[toolSays("sunny")], [toolSays("rain")]]);
    const { texts, row, metrics } = observed(group, { tool: 0.5 });
    expect(texts).toEqual({ 0.5: "sunnyrain" });
    const both = [...row.targetMask].filter(
      (mask, i) => mask === 1 && row.observationWeights![i]! > 0,
    );
    expect(both).toEqual([]);
    expect(metrics).toEqual({ "rows/observed_tokens": 9, "rows/unmatched_observations": 0 });
  });

  it("gives each role its own weight, and none to the first prompt", () => {
    const answer: ChatMessage[] = [
      toolSays("one"),
      toolSays("two"),
      { role: "user", content: "more" },
    ];
    const group = groupOf([answer], [{ role: "system", content: "S" }]);
    const { texts } = observed(group, { tool: 0.5, user: 0.25, system: 1 });
    expect(texts).toEqual({ 0.5: "onetwo", 0.25: "more" });
    expect(observed(group, { user: 0.25 }).texts).toEqual({ 0.25: "more" });
  });

  it("leaves rows without an answer as they are", () => {
    const group = groupOf([]);
    const { rows } = buildRows([group], [[1]]);
    const found = withObservations(rows, [group], { renderer, weights: new Map([["tool", 1]]) });
    expect(found.rows[0]).toBe(rows[0]);
  });

  it("counts what was sent to the model in another way than the renderer writes it", () => {
    const group = groupOf([[toolSays("sunny")]]);
    const [member] = group.members;
    const steps = member!.trajectory.steps.map((step, i) =>
      i === 0
        ? step
        : makeStep({
            ...step.trace,
            messages: [...step.trace.messages.slice(0, -1), toolSays("windy")],
          }),
    );
    const other = {
      ...group,
      members: [{ ...member!, trajectory: { ...member!.trajectory, steps } }],
    };
    const { texts, metrics } = observed(other, { tool: 0.5 });
    expect(texts).toEqual({});
    expect(metrics).toEqual({ "rows/observed_tokens": 0, "rows/unmatched_observations": 1 });
  });

  it("leaves only observations of a row whose reward teaches nothing", () => {
    const { row } = observed(groupOf([[toolSays("sunny")]]), { tool: 0.5 });
    const only = onlyObserved(row);
    expect(only.targetMask.includes(1)).toBe(false);
    expect(only.observationWeights).toEqual(row.observationWeights);
  });
});
