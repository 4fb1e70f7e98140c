/** Trajectories against references: the verdicts of `agentevals`, and what is refused or bounded. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ChatMessage } from "../../src/core/message.ts";
import { type TrajectoryMatchOptions, trajectoryMatch } from "../../src/evaluators/index.ts";
import { makeStep } from "../make-step.ts";
import { episodeOf, taskOf } from "./episode-of.ts";
import { type WireMessage, randomPairs, settings } from "./random-trajectories.ts";

const captured = ({ role, content, tool_calls }: WireMessage): ChatMessage => ({
  role,
  content,
  ...(tool_calls && {
    toolCalls: tool_calls.map(({ id, function: called }) => ({ id, ...called })),
  }),
});

const verdict = (
  reference: unknown,
  made: readonly ChatMessage[],
  options: TrajectoryMatchOptions<unknown> = {},
) => trajectoryMatch({ messages: () => made, ...options })(taskOf({ reference }), episodeOf(""));

/** An assistant's message that calls these tools. */
const calls = (...named: readonly [name: string, args: unknown][]): ChatMessage => ({
  role: "assistant",
  content: "",
  toolCalls: named.map(([name, args], index) => ({
    id: String(index),
    name,
    arguments: typeof args === "string" ? args : JSON.stringify(args),
  })),
});
const expected = (...named: readonly [name: string, args: unknown][]) => ({
  role: "assistant",
  content: "",
  tool_calls: named.map(([name, args]) => ({ function: { name, arguments: args } })),
});

describe("1,000 random trajectories", () => {
  // Written by test/integration/agentevals/.
  const written = readFileSync(join(import.meta.dirname, "agentevals-verdicts.txt"), "utf8");
  const pairs = randomPairs(1000);
  const verdicts = pairs.map(({ made, reference }) =>
    settings.map((options) => verdict(reference, made.map(captured), options).reward).join(""),
  );

  it("get the verdicts of agentevals in every setting", () => {
    expect(verdicts).toEqual(written.trim().split("\n"));
  });

  it("get both verdicts often in every setting", () => {
    for (const index of settings.keys()) {
      const matches = verdicts.filter((line) => line[index] === "1").length;
      expect(Math.min(matches, 1000 - matches)).toBeGreaterThan(50);
    }
  });
});

describe("trajectoryMatch", () => {
  const search = expected(["search", { query: "Rome" }]);
  const found: ChatMessage = { role: "tool", content: "…" };
  const done: ChatMessage = { role: "assistant", content: "Done." };

  it("reads the last call's messages, with system messages only where the reference has any", () => {
    const system: ChatMessage = { role: "system", content: "Help." };
    const user: ChatMessage = { role: "user", content: "Find it." };
    const call = calls(["search", { query: "Rome" }]);
    const episode = episodeOf("", [
      makeStep({ messages: [system, user], response: call }),
      makeStep({ messages: [system, user, call, found], response: done }),
    ]);
    const reference = [{ role: "user" }, search, { role: "tool" }, { role: "assistant" }];
    const score = (messages: unknown) =>
      trajectoryMatch()(taskOf({ reference: messages }), episode).reward;
    expect(score(reference)).toBe(1);
    expect(score({ messages: reference })).toBe(1);
    expect(score([{ role: "system" }, ...reference])).toBe(1);
    expect(score([{ role: "developer" }, ...reference])).toBe(1);
    expect(score(reference.slice(1))).toBe(0);
  });

  it.each([
    [
      "messages",
      [search, { role: "tool" }],
      [calls(["search", { query: "Rome" }])],
      "strict",
      "1 messages instead of 2",
    ],
    ["a role", [search], [found], "strict", "message 1 is from tool instead of assistant"],
    ["calls", [search], [done], "strict", "message 1 has 0 calls instead of 1"],
    [
      "arguments",
      [search],
      [calls(["search", {}])],
      "strict",
      'message 1 has a call of "search" that is not expected',
    ],
    ["a missing call", [search], [done], "unordered", 'an expected call of "search" is missing'],
    ["another call", [search], [calls(["drop", {}])], "subset", 'a call of "drop" is not expected'],
  ] as const)("gives the reason: %s", (_name, reference, made, mode, reason) => {
    expect(verdict(reference, made, { mode })).toEqual({
      reward: 0,
      isCorrect: false,
      metadata: { reason },
    });
  });

  it.each(["{query: Rome", "[1]", "null", `{"a":${"[".repeat(100)}${"]".repeat(100)}}`])(
    "matches no call with the arguments %s",
    (text) => {
      const made = [calls(["search", text])];
      expect(verdict([search], made, { toolArgs: "ignore" }).reward).toBe(0);
    },
  );

  it("tells a list from an object, and knows no inherited names", () => {
    const one = (tool: string, made: unknown, wanted: unknown, toolArgs?: "subset") =>
      verdict([expected([tool, wanted])], [calls([tool, made])], toolArgs && { toolArgs }).reward;
    expect(one("search", { x: [] }, { x: {} })).toBe(0);
    expect(one("search", '{"__proto__":{}}', {}, "subset")).toBe(0);
    expect(
      verdict([expected(["constructor", { x: 1 }])], [calls(["constructor", {}])], { toolArgs: {} })
        .reward,
    ).toBe(0);
  });

  it("takes an empty list of calls for none, and arguments as text", () => {
    expect(verdict([{ role: "assistant", tool_calls: [] }], [done]).reward).toBe(1);
    expect(
      verdict([expected(["search", '{"a":[1]}'])], [calls(["search", { a: [1] }])]).reward,
    ).toBe(1);
    expect(verdict([expected(["search", ""])], [calls(["search", ""])]).reward).toBe(1);
  });

  it("compares up to 500 calls, and none beyond the limits", () => {
    const many = (count: number, last: number) =>
      Array.from(
        { length: count },
        () => ["search", { ids: [...Array(100).keys(), last] }] as [string, unknown],
      );
    const reference = [expected(...many(499, 1), ["search", { ids: [2] }])];
    expect(verdict(reference, [calls(...many(500, 1))], { mode: "unordered" }).reward).toBe(0);
    const reason = "the tool calls are too many or too long to be compared";
    const flood = verdict(reference, [calls(...many(501, 1))], { mode: "superset" });
    expect(flood.metadata).toEqual({ reason });
    const long = verdict(reference, [calls(["search", { text: "a".repeat(1_000_000) }])]);
    expect(long.metadata).toEqual({ reason });
  });

  it.each([
    ["text"],
    [{ message: [] }],
    [[null]],
    [[{ content: "no role" }]],
    [[{ role: "assistant", tool_calls: {} }]],
    [[{ role: "assistant", tool_calls: [{ name: "search", args: {} }] }]],
    [[expected(["search", "no JSON"])]],
  ])("refuses %j as a reference", (reference) => {
    expect(() => verdict(reference, [])).toThrow(/The reference of task "task-1" is not a list/u);
  });

  it("needs a reference", () => {
    expect(() => verdict(undefined, [])).toThrow(/`?task\.metadata\.reference/u);
  });
});
