import { expect, it } from "vitest";
import type { ViewCall, ViewMessage } from "./api/conversation.ts";
import { pairResults } from "./tool-results.ts";

const asks = (k: number, ids: readonly string[], newMessages: readonly ViewMessage[], thread = 0) =>
  ({
    k,
    thread,
    newMessages,
    response: {
      role: "assistant",
      text: "",
      toolCalls: ids.map((id) => ({ id, name: "f", arguments: "{}" })),
    },
  }) as unknown as ViewCall;
const result = (text: string, toolCallId?: string): ViewMessage => ({
  role: "tool",
  text,
  ...(toolCallId === undefined ? {} : { toolCallId }),
});

it("pairs results with calls by id, in any order", () => {
  const [one, two] = [result("1", "a"), result("2", "b")];
  const { byCall, paired } = pairResults([asks(0, ["a", "b"], []), asks(1, [], [two, one])]);
  expect([byCall.get("a"), byCall.get("b")]).toEqual([one, two]);
  expect(paired.size).toBe(2);
});

it("pairs by order where an agent sends other ids, if there are as many", () => {
  const sent = [result("1", "own-1"), result("2", "own-2")];
  const { byCall } = pairResults([asks(0, ["a", "b"], []), asks(1, [], sent)]);
  expect([byCall.get("a")?.text, byCall.get("b")?.text]).toEqual(["1", "2"]);
  const fewer = pairResults([asks(0, ["a", "b"], []), asks(1, [], sent.slice(1))]);
  expect([fewer.byCall.size, fewer.paired.size]).toEqual([0, 0]);
});

it("leaves out what a replay has not come to, and the calls of other conversations", () => {
  const said = result("1", "a");
  const calls = [asks(0, ["a"], []), asks(1, [], [said])];
  const { byCall, paired } = pairResults(calls, () => false);
  expect([byCall.size, paired.has(said)]).toEqual([0, true]);
  expect(pairResults([asks(0, ["a"], []), asks(1, [], [said], 1)]).paired.size).toBe(0);
});
