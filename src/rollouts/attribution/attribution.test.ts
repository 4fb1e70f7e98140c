import { describe, expect, it } from "vitest";
import { defineTrajectory } from "../../core/report.ts";
import { AgentTrainerError } from "../../core/errors.ts";
import { defaultSampling } from "../../core/policy.ts";
import type { ChatMessage } from "../../core/message.ts";
import type { Trace } from "../../core/trace.ts";
import { attributeTraces, type AttributionContext } from "./attribution.ts";
import { matchReports } from "./match-reports.ts";
import { buildTrajectories } from "./build-trajectories.ts";

const context: AttributionContext = {
  sessionUid: "s",
  defaultName: "agent",
  handles: new Map([
    ["u-solver", "solver"],
    ["u-judge", "judge"],
  ]),
};
const bare: AttributionContext = { ...context, handles: new Map() };

let nextId = 0;

function trace(overrides: Partial<Trace>): Trace {
  const id = overrides.id ?? `t${nextId++}`;
  return {
    id,
    responseId: `response-${id}`,
    sessionUid: "s",
    trajectoryUid: null,
    sequence: 0,
    choice: 0,
    protocol: "openai-chat",
    model: "m",
    messages: [],
    tools: [],
    response: { role: "assistant", content: id },
    promptIds: Int32Array.of(1),
    responseIds: Int32Array.of(2),
    logprobs: Float32Array.of(-0.5),
    logprobKind: "raw",
    stopReason: "stop",
    weightVersion: 3,
    sampling: { ...defaultSampling, seed: 0, stopTokenIds: [] },
    parentId: null,
    startedAt: 0,
    finishedAt: 0,
    ...overrides,
  };
}

function summary(traces: readonly Trace[], used = context): [string, string, string[]][] {
  return attributeTraces(traces, used).trajectories.map((own) => [
    own.uid,
    own.name,
    own.traces.map((t) => t.id),
  ]);
}

describe("attributeTraces", () => {
  it("goes by endpoint and orders by dispatch, whatever the order of completion", () => {
    const traces = [
      trace({ id: "judge-0", sequence: 3, trajectoryUid: "u-judge" }),
      trace({ id: "solver-1", sequence: 2, trajectoryUid: "u-solver" }),
      trace({ id: "solver-0", sequence: 0, trajectoryUid: "u-solver" }),
      trace({ id: "root", sequence: 1 }),
    ];
    expect(summary(traces)).toEqual([
      ["u-solver", "solver", ["solver-0", "solver-1"]],
      ["s/agent", "agent", ["root"]],
      ["u-judge", "judge", ["judge-0"]],
    ]);
  });

  it("puts calls through the session's own URL with those of a handle of the same name", () => {
    const traces = [
      trace({ id: "a", sequence: 0 }),
      trace({ id: "b", sequence: 1, trajectoryUid: "u-solver" }),
    ];
    expect(summary(traces, { ...context, defaultName: "solver" })).toEqual([
      ["u-solver", "solver", ["a", "b"]],
    ]);
  });

  it("counts what is in no trajectory", () => {
    const result = attributeTraces(
      [
        trace({ id: "ok" }),
        trace({ sequence: 1, untrainable: "client gone" }),
        trace({ sequence: 2, trajectoryUid: "u-nobody" }),
        trace({ sequence: 3, sessionUid: "another" }),
      ],
      bare,
    );
    expect(result).toMatchObject({ calls: 3, untrainable: 1, unattributed: 2, unusedChoices: 0 });
    expect(result.trajectories.map((own) => own.traces.map((t) => t.id))).toEqual([["ok"]]);
  });

  it("shows a trajectory whose every call is untrainable, without steps", () => {
    expect(summary([trace({ trajectoryUid: "u-judge", untrainable: "no ids" })])).toEqual([
      ["u-judge", "judge", []],
    ]);
  });

  describe("choices of one call", () => {
    const choices = [0, 1, 2].map((choice) =>
      trace({
        id: `c${choice}`,
        responseId: "r",
        choice,
        responseIds: Int32Array.of(10 + choice),
      }),
    );

    it("keeps none, and counts the call, when nothing tells which one the agent used", () => {
      const later = trace({ id: "later", sequence: 1, promptIds: Int32Array.of(9) });
      const result = attributeTraces([later, ...choices.toReversed()], bare);
      expect(result.trajectories[0]?.traces.map((t) => t.id)).toEqual(["later"]);
      expect(result).toMatchObject({ calls: 2, unusedChoices: 3, undecidedChoices: 1 });
    });

    it("keeps one when all hold the same tokens", () => {
      const same = choices.map((choice) => ({ ...choice, responseIds: Int32Array.of(7, 8) }));
      expect(summary(same, bare)).toEqual([["s/agent", "agent", ["c0"]]]);
    });

    const question: ChatMessage = { role: "user", content: "How much?" };
    const responding = (...responses: readonly Partial<ChatMessage>[]): Trace[] =>
      responses.map((response, choice) => ({
        ...choices[choice]!,
        messages: [question],
        response: { role: "assistant", content: "", ...response },
      }));
    const after = (...messages: readonly ChatMessage[]): Trace =>
      trace({ id: "later", sequence: 1, promptIds: Int32Array.of(9), messages });
    const call = (id: string, args: string) => ({
      toolCalls: [{ id, name: "price", arguments: args }],
    });

    it.each([
      [
        "the same text, white space apart",
        responding({ content: "3" }, { content: "4" }, { content: "5" }),
        [question, { role: "assistant", content: " 4\n" }, question],
      ],
      [
        "text parts",
        responding({ content: "3" }, { content: "4" }, { content: "5" }),
        [question, { role: "assistant", content: [{ type: "text", text: "4" }] }],
      ],
      [
        "the same tool call",
        responding(call("x", '{"of":1}'), call("y", '{"of":2}'), call("z", '{"of":3}')),
        [question, { role: "assistant", content: "", ...call("other", '{"of":2}') }],
      ],
      [
        "the tool call of that id, where several say the same",
        responding(call("x", "{}"), call("y", "{}"), call("z", "{}")),
        [question, { role: "assistant", content: "", ...call("y", "{}") }],
      ],
      [
        "the text in a conversation that was shortened",
        responding({ content: "3" }, { content: "4" }, { content: "5" }),
        [{ role: "assistant", content: "4" }],
      ],
    ] as [string, Trace[], ChatMessage[]][])(
      "keeps the one that a later request holds: %s",
      (_, list, messages) => {
        expect(summary([...list, after(...messages)], bare)).toEqual([
          ["s/agent", "agent", ["c1", "later"]],
        ]);
      },
    );

    it("does not take an earlier answer of the conversation for one of this call", () => {
      const list = responding({ content: "yes" }, { content: "no" }).map((choice) => ({
        ...choice,
        messages: [question, { role: "assistant", content: "yes" } as const, question],
      }));
      const later = after(question, { role: "assistant", content: "yes" }, question, question);
      expect(attributeTraces([...list, later], bare)).toMatchObject({ undecidedChoices: 1 });
    });

    it("does not take what a user message quotes for what the agent used", () => {
      const list = responding({ content: "3" }, { content: "4" });
      const later = after({ role: "user", content: "Which is better: 3 or 4?" });
      expect(attributeTraces([...list, later], bare)).toMatchObject({ undecidedChoices: 1 });
    });

    it.each([
      ["equal to one", ["4"], ["c1"]],
      ["equal to one, white space apart", ["4 \n"], ["c1"]],
      ["of another trajectory", ["nothing", "5"], ["c2"]],
      ["equal to none", ["42"], []],
      ["equal to two different ones", ["4", "5"], []],
    ])("go by the output %s", (_, outputs, expected) => {
      const list = responding({ content: "3" }, { content: "4" }, { content: "5" });
      const { trajectories } = attributeTraces(list, { ...bare, evidence: { outputs } });
      expect(trajectories.flatMap((own) => own.traces.map(({ id }) => id))).toEqual(expected);
    });

    it("go by a report before anything else, with what it says of each", () => {
      const report = defineTrajectory({
        name: "agent",
        steps: [
          { responseId: "r", choice: 2, reward: 1 },
          { responseId: "r", choice: 0, reward: 0.25 },
        ],
      });
      const later = trace({ id: "later", sequence: 1, parentId: "c1" });
      const claims = matchReports([report], [...choices, later], bare);
      const { trajectories } = attributeTraces([...choices, later], {
        ...bare,
        claims: claims.byResponse,
        evidence: { named: claims.choices },
      });
      const [built] = buildTrajectories(trajectories, claims.reports, bare);
      expect(built?.steps.map(({ trace: of, reward }) => [of.id, reward])).toEqual([
        ["c0", 0.25],
        ["c2", 1],
        ["later", undefined],
      ]);
    });

    it("refuse a report that names a choice that there is not", () => {
      const report = defineTrajectory({ name: "agent", steps: [{ responseId: "r", choice: 3 }] });
      expect(() => matchReports([report], choices, bare)).toThrow(
        'names choice 3 of the response "r", which has 3',
      );
    });

    it.each([
      ["by parent", { parentId: "c2" }],
      ["by ids", { promptIds: Int32Array.of(1, 12, 5) }],
    ])("keeps the one that a later call goes on with, known %s", (_, link) => {
      const later = trace({ id: "later", sequence: 1, ...link });
      expect(summary([...choices, later], bare)).toEqual([["s/agent", "agent", ["c2", "later"]]]);
    });

    it("keeps every one that has a continuation of its own", () => {
      const a = trace({ id: "a", sequence: 1, parentId: "c0" });
      const b = trace({ id: "b", sequence: 2, parentId: "c1" });
      expect(summary([...choices, a, b], bare)).toEqual([
        ["s/agent", "agent", ["c0", "c1", "a", "b"]],
      ]);
    });
  });
});

describe("buildTrajectories", () => {
  const first = trace({ id: "a", sequence: 0, trajectoryUid: "u-solver" });
  const last = trace({ id: "c", sequence: 2, trajectoryUid: "u-solver" });
  const captured = attributeTraces(
    [first, trace({ id: "b", sequence: 1, trajectoryUid: "u-judge" }), last],
    context,
  ).trajectories;

  function built(...reports: Parameters<typeof defineTrajectory>[0][]) {
    return buildTrajectories(captured, reports.map(defineTrajectory), context);
  }

  it("makes steps that hold the captured calls", () => {
    const [solver] = built();
    expect(solver).toEqual({
      uid: "u-solver",
      name: "solver",
      reward: null,
      signals: {},
      metadata: {},
      steps: [
        { trace: first, done: false },
        { trace: last, done: true },
      ],
    });
  });

  it("copies reward, output and metadata by uid or name, never by position", () => {
    const trajectories = built(
      { name: "judge", reward: 0.25, output: "no" },
      { name: "worker", uid: "u-solver", reward: 1, metadata: { k: 1 } },
      { name: "nobody", reward: 7 },
    );
    expect(
      trajectories.map((t) => [t.uid, t.name, t.reward, t.output, t.metadata, t.steps.length]),
    ).toEqual([
      ["u-solver", "worker", 1, undefined, { k: 1 }, 2],
      ["u-judge", "judge", 0.25, "no", {}, 1],
      ["s/nobody", "nobody", 7, undefined, {}, 0],
    ]);
  });

  it("goes by name when the uid is not one of this rollout's", () => {
    const [, judge, ...rest] = built({ name: "judge", uid: "foreign", reward: 1 });
    expect([judge?.uid, judge?.reward, rest]).toEqual(["u-judge", 1, []]);
  });

  it("lets several trajectories share a role when their uids differ", () => {
    const names = built(
      { name: "worker", uid: "u-solver", reward: 1 },
      { name: "worker", uid: "u-judge", reward: 0 },
    ).map((t) => [t.uid, t.name, t.reward]);
    expect(names).toEqual([
      ["u-solver", "worker", 1],
      ["u-judge", "worker", 0],
    ]);
  });

  it("refuses two reports of the same trajectory", () => {
    expect(() => built({ name: "solver" }, { name: "solver" })).toThrow(AgentTrainerError);
    expect(() => built({ name: "solver" }, { name: "x", uid: "u-solver" })).toThrow(
      'reported "solver" and "x", which are the same trajectory',
    );
    expect(() => built({ name: "ghost" }, { name: "ghost" })).toThrow('"ghost" twice');
  });

  it("gives the only report of a flow without handles all of its calls", () => {
    const own = attributeTraces([trace({ id: "x" })], bare).trajectories;
    const report = defineTrajectory({ name: "solver", reward: 1 });
    expect(buildTrajectories(own, [report], bare)).toEqual([
      expect.objectContaining({ name: "solver", reward: 1, steps: [expect.anything()] }),
    ]);
    const two = buildTrajectories(own, [report, defineTrajectory({ name: "judge" })], bare);
    expect(two.map((t) => [t.name, t.steps.length])).toEqual([
      ["agent", 1],
      ["solver", 0],
      ["judge", 0],
    ]);
  });

  it("shows a flow that called nothing as one empty trajectory", () => {
    expect(buildTrajectories([], [], bare)).toEqual([
      expect.objectContaining({ uid: "s/agent", name: "agent", steps: [], reward: null }),
    ]);
  });
});
