import { expect, it } from "vitest";
import type { ChatMessage } from "../../core/message.ts";
import type { Feedback } from "../store/feedback.ts";
import type { Span } from "../store/span.ts";
import { Labels } from "./labels.ts";
import { rebuildTurns } from "./turns.ts";

const user = (content: string): ChatMessage => ({ role: "user", content });
const says = (content: string): ChatMessage => ({ role: "assistant", content });
const calls = (...ids: readonly string[]): ChatMessage => ({
  role: "assistant",
  content: "",
  toolCalls: ids.map((id) => ({ id, name: "look", arguments: `{"at":"${id}"}` })),
});
const gives = (id: string): ChatMessage => ({ role: "tool", toolCallId: id, content: `of ${id}` });

let next = 0;
function span(more: Partial<Span> & { readonly traceId: string }): Span {
  const n = next++;
  return {
    id: `s${n}`,
    parentId: null,
    name: "n",
    kind: "other",
    startMs: n,
    endMs: n + 0.5,
    source: "otel",
    ...more,
  };
}

function call(
  traceId: string,
  messages: readonly ChatMessage[],
  response: ChatMessage | null,
  more: Partial<Span> = {},
): Span {
  return span({
    traceId,
    kind: "model",
    model: { model: "m", messages, tools: [], response, completeness: { state: "complete" } },
    ...more,
  });
}

const answers = (spans: readonly Span[]): unknown[] =>
  rebuildTurns(spans).turns.map(({ completion, flaw, isSubAgent }) => [
    completion.at(-1)!.content,
    flaw,
    isSubAgent,
  ]);

it("has a turn for each answer of a conversation over several traces", () => {
  const first = [user("a")];
  const second = [...first, says("1"), user("b")];
  const spans = [
    call("t1", first, says("1"), { user: "u" }),
    call("t2", second, calls("x", "y")),
    call("t2", [...second, calls("x", "y"), gives("x"), gives("y")], says("2")),
  ];
  const { turns } = rebuildTurns(spans);
  expect(turns.map(({ prompt, completion }) => [prompt.length, completion.length])).toEqual([
    [1, 1],
    [3, 4],
  ]);
  expect(turns.map((turn) => turn.user)).toEqual(["u", "u"]);
});

it("follows a conversation whose ids of calls are others when they are sent back", () => {
  const first = [user("a")];
  const spans = [
    call("t", first, calls("x")),
    call(
      "t",
      [
        ...first,
        { ...calls("x"), toolCalls: [{ id: "new", name: "look", arguments: '{ "at": "x" }' }] },
        gives("new"),
      ],
      says("1"),
    ),
  ];
  expect(answers(spans)).toEqual([["1", null, false]]);
});

it("keeps sub-agents apart", () => {
  const agent = span({ traceId: "t", kind: "agent" });
  const tool = span({ traceId: "t", kind: "tool", parentId: agent.id });
  const inner = span({ traceId: "t", kind: "agent", parentId: tool.id });
  const spans = [
    agent,
    tool,
    inner,
    call("t", [user("a")], calls("x"), { parentId: agent.id }),
    call("t", [user("for x")], says("of x"), { parentId: inner.id }),
    call("t", [user("a"), calls("x"), gives("x")], says("1"), { parentId: agent.id }),
  ];
  expect(answers(spans)).toEqual([
    ["of x", null, true],
    ["1", null, false],
  ]);
});

it("takes the last of several answers to one prompt, and counts what failed", () => {
  const spans = [
    call("t", [user("a")], null, { error: "429" }),
    call("t", [user("a")], says("1")),
    call("t", [user("a")], says("2")),
    call("t", [], null),
  ];
  expect(answers(spans)).toEqual([
    ["1", null, false],
    ["2", null, false],
  ]);
  const { turns, ...counts } = rebuildTurns(spans);
  expect(turns.map(({ isRepeated }) => isRepeated)).toEqual([true, false]);
  expect(counts).toEqual({ failed: 1, withoutText: 1 });
});

it("says why a turn is no example", () => {
  const image: ChatMessage = { role: "user", content: [{ type: "image", url: "data:," }] };
  const spans = [
    call("t1", [user("a")], calls("x")),
    call("t2", [image], says("1")),
    call("t3", [user("c")], says("half")),
  ];
  const completeness = { state: "cut", why: "cut off" } as const;
  spans[2] = { ...spans[2]!, model: { ...spans[2]!.model!, completeness } };
  expect(rebuildTurns(spans).turns.map(({ flaw }) => flaw)).toEqual([
    "unfinished",
    "images",
    "cut off",
  ]);
});

it("reads how a response ended in stores of earlier versions", () => {
  const of = (stopReason: string | undefined): unknown => {
    const recorded = call("t", [user("a")], says("1"));
    const { completeness: _none, ...model } = recorded.model!;
    const earlier = { ...recorded, model: { ...model, stopReason } } as unknown as Span;
    const [turn] = rebuildTurns([earlier]).turns;
    return [turn!.flaw, turn!.isEndKnown];
  };
  expect(of("length")).toEqual(["cut off", false]);
  expect(of("stop")).toEqual([null, true]);
  expect(of(undefined)).toEqual([null, false]);
});

it("ends where parents are a circle or are missing", () => {
  const a = span({ traceId: "t", kind: "agent", id: "a", parentId: "b" });
  const b = span({ traceId: "t", kind: "agent", id: "b", parentId: "a" });
  expect(answers([a, b, call("t", [user("a")], says("1"), { parentId: "a" })])).toEqual([
    ["1", null, false],
  ]);
  expect(answers([call("t", [user("a")], says("1"), { parentId: "gone" })])).toEqual([
    ["1", null, false],
  ]);
});

it("puts feedback where it belongs", () => {
  const first = [user("a")];
  const second = [...first, says("1"), user("b")];
  const conversationId = "c";
  const spans = [
    call("t1", first, says("1"), { conversationId }),
    call("t2", second, says("2"), { conversationId }),
  ];
  spans[0] = { ...spans[0]!, model: { ...spans[0]!.model!, responseId: "r1" } };
  const labels = new Labels(
    [
      { responseId: "r1", thumb: "up", at: 1, user: "x" },
      { traceId: "t1", score: 0, at: 2, user: "y" },
      // Who rates again has changed their mind.
      { responseId: "r1", thumb: "down", at: 3, user: "x" },
      { conversationId: "c", outcome: { solved: true }, correction: "3", at: 4 },
      { traceId: "gone", thumb: "up", at: 5 },
    ].entries() as Iterable<readonly [number, Feedback]>,
    { outcome: "solved" },
  );
  expect(labels.of(rebuildTurns(spans).turns)).toEqual([
    { score: 0, correction: null },
    { score: 1, correction: "3" },
  ]);
  expect([labels.count, labels.matched, labels.unused]).toEqual([5, 4, [4]]);
});
