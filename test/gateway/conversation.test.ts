import { describe, expect, it } from "vitest";
import { createByteRenderer, createScriptedTarget } from "../../src/testing/index.ts";
import {
  createTestGateway,
  userSays,
  weatherTool,
  type WireMessage,
  type WireTrace,
} from "./function-client.ts";

const renderer = createByteRenderer();
// Two spaces: re-encoding the parsed call would write one.
const call = '<tool_call>{"name":  "weather", "arguments": {"city": "Oslo"}}</tool_call>';

function tokensOf(trace: WireTrace | undefined): number[] {
  return [...(trace?.prompt_token_ids ?? []), ...(trace?.completion_token_ids ?? [])];
}

/** `later` continues `earlier` id by id, and what it adds is the rendering of `added`. */
function expectExtension(
  earlier: WireTrace | undefined,
  later: WireTrace | undefined,
  added: readonly { role: "user" | "tool"; content: string }[],
): void {
  const previous = tokensOf(earlier);
  expect(later?.parent_trace_id).toBe(earlier?.trace_id);
  const extended = renderer.extend(Int32Array.from(previous), added)?.tokens ?? [];
  expect(later?.prompt_token_ids).toEqual(Array.from(extended));
  expect(later?.prompt_token_ids.slice(0, previous.length)).toEqual(previous);
}

describe("later turns", () => {
  it("are built from the ids that were sampled, through tool calls", async () => {
    const { open } = createTestGateway([call, "Sunny.", "Bye."]);
    const session = await open();
    const messages: unknown[] = [userSays("weather?")];
    const request = async (): Promise<WireMessage> => {
      const response = await session.complete({ messages, tools: [weatherTool] });
      const message = response.choices[0]?.message as WireMessage;
      messages.push(message);
      return message;
    };
    const first = await request();
    const id = first.tool_calls?.[0]?.id;
    messages.push({ role: "tool", tool_call_id: id, content: "sun" });
    await request();
    messages.push(userSays("thanks"));
    await request();
    const [one, two, three] = await session.traces();
    expect(one?.parent_trace_id).toBeNull();
    expectExtension(one, two, [{ role: "tool", content: "sun" }]);
    expectExtension(two, three, [userSays("thanks")]);
    // The same history rendered afresh has other ids, so the above is not by luck.
    const afresh = renderer.render(
      [
        userSays("weather?"),
        {
          role: "assistant",
          content: "",
          toolCalls: [{ id: "", name: "weather", arguments: '{"city":"Oslo"}' }],
        },
        { role: "tool", content: "sun" },
      ],
      { tools: [weatherTool.function] },
    );
    expect(two?.prompt_token_ids).not.toEqual(Array.from(afresh.tokens));
  });

  it("are recognised when the client writes arguments, content and ids its own way", async () => {
    const { open } = createTestGateway([call, "Sunny."]);
    const session = await open();
    const question = userSays("weather?");
    await session.complete({ messages: [question], tools: [weatherTool] });
    const echoed = {
      role: "assistant",
      content: "",
      extra: 1,
      tool_calls: [
        {
          id: "mine",
          type: "function",
          function: { name: "weather", arguments: '{ "city" : "\\u004fslo" }' },
        },
      ],
    };
    const result = { role: "tool", tool_call_id: "mine", content: "sun" };
    await session.complete({ messages: [question, echoed, result], tools: [weatherTool] });
    const [one, two] = await session.traces();
    expect(two?.parent_trace_id).toBe(one?.trace_id);
    expectExtension(one, two, [{ role: "tool", content: "sun" }]);
  });

  it("continue a turn that was cut by max_tokens", async () => {
    const { open } = createTestGateway(["a long answer", "ok"]);
    const session = await open();
    const question = userSays("q");
    const cut = await session.complete({ messages: [question], max_tokens: 4 });
    const messages = [question, cut.choices[0]?.message, userSays("go on")];
    await session.complete({ messages });
    const [one, two] = await session.traces();
    expect(one?.finish_reason).toBe("length");
    expectExtension(one, two, [userSays("go on")]);
  });

  it("are rendered afresh when the history was edited", async () => {
    const { open } = createTestGateway(["first", "second", "third", "fourth", "fifth"]);
    const session = await open();
    const history = [userSays("q"), { role: "assistant", content: "first" }, userSays("next")];
    await session.complete({ messages: history.slice(0, 1) });
    const edited = history.with(1, { role: "assistant", content: "First" });
    await session.complete({ messages: edited });
    await session.complete({ messages: history.with(0, userSays("Q")) });
    await session.complete({ messages: history, tools: [weatherTool] });
    await session.complete({ messages: history });
    const traces = await session.traces();
    const parents = traces.map((trace) => trace.parent_trace_id);
    expect(parents).toEqual([null, null, null, null, traces[0]?.trace_id]);
    const afresh = renderer.render(edited as Parameters<typeof renderer.render>[0]);
    expect(traces[1]?.prompt_token_ids).toEqual(Array.from(afresh.tokens));
  });

  it("follow the longest match, branches and every choice of n", async () => {
    const { open } = createTestGateway(({ index, choice }) => `answer ${index} ${choice}`);
    const session = await open();
    const question = userSays("q");
    const first = await session.complete({ messages: [question], n: 2 });
    const [left, right] = first.choices.map((choice) => choice.message);
    const second = await session.complete({ messages: [question, right, userSays("r")] });
    await session.complete({ messages: [question, left, userSays("l")] });
    const deep = [question, right, userSays("r"), second.choices[0]?.message, userSays("deep")];
    await session.complete({ messages: deep });
    const [zero, one, two, three, four] = await session.traces();
    expect(zero?.choice).toBe(0);
    expectExtension(one, two, [userSays("r")]);
    expectExtension(zero, three, [userSays("l")]);
    expectExtension(two, four, [userSays("deep")]);
  });

  it("stay apart when two trajectories have said the same", async () => {
    const { open } = createTestGateway([[97, 257], [97], "x", "y"]);
    const session = await open();
    const question = userSays("q");
    const [solver, judge] = ["solver", "judge"].map(
      (name) => `/../trajectories/${name}/v1/chat/completions`,
    );
    await session.complete({ messages: [question] }, solver);
    await session.complete({ messages: [question] }, judge);
    const messages = [question, { role: "assistant", content: "a" }, userSays("next")];
    await session.complete({ messages }, judge);
    await session.complete({ messages }, solver);
    const [one, two, three, four] = await session.traces();
    expect([one, two].map((trace) => trace?.trajectory_id)).toEqual(["solver", "judge"]);
    expectExtension(two, three, [userSays("next")]);
    expectExtension(one, four, [userSays("next")]);
  });

  it("are rendered afresh when the renderer cannot extend, or does not keep the ids", async () => {
    const { sampler } = createScriptedTarget(() => "a");
    const results = [null, { tokens: Int32Array.of(1, 2, 3) }];
    for (const result of results) {
      const target = {
        kind: "sampler",
        sampler,
        renderer: { ...renderer, extend: () => result },
      } as const;
      const { open } = createTestGateway([], {}, { target });
      const session = await open();
      const messages = [
        userSays("q"),
        { role: "assistant", content: "a" } as const,
        userSays("next"),
      ];
      await session.complete({ messages: messages.slice(0, 1) });
      await session.complete({ messages });
      const [, second] = await session.traces();
      expect(second?.parent_trace_id).toBeNull();
      expect(second?.prompt_token_ids).toEqual(Array.from(renderer.render(messages).tokens));
    }
  });

  it("do not see other sessions", async () => {
    const { open } = createTestGateway(() => "same");
    const messages = [userSays("q"), { role: "assistant", content: "same" }, userSays("next")];
    const [mine, other] = [await open(), await open()];
    await other.complete({ messages: messages.slice(0, 1) });
    await mine.complete({ messages });
    expect((await mine.traces())[0]?.parent_trace_id).toBeNull();
  });
});
