/** What inference servers answer in forms of their own reaches the agent whole, or is an error. */
import type { IncomingMessage } from "node:http";
import { describe, expect, it } from "vitest";
import type { WorkerKind } from "../../../src/core/backend.ts";
import type { Trace } from "../../../src/core/trace.ts";
import { openWorld, responseProbe, serveHttp } from "../http-world.ts";

/** Chunks of a stream, or a whole response. */
type Answer = readonly object[] | object;

const delta = (fields: object, finish: string | null = null): object => ({
  id: "x",
  choices: [{ index: 0, delta: fields, finish_reason: finish }],
});
const called = (...parts: readonly object[]): object => delta({ tool_calls: parts });
const part = (more: object, name?: string, text?: unknown): object => ({
  ...more,
  function: {
    ...(name === undefined ? {} : { name }),
    ...(text === undefined ? {} : { arguments: text }),
  },
});
const whole = (message: object, finish = "stop", more: object = {}): object => ({
  choices: [{ index: 0, message: { role: "assistant", ...message }, finish_reason: finish }],
  usage: { prompt_tokens: 1, completion_tokens: 1 },
  ...more,
});
const end = delta({}, "tool_calls");

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  let text = "";
  for await (const bytes of request) text += String(bytes);
  return { ...(JSON.parse(text) as object), text };
}

interface Got {
  readonly status: number;
  readonly text: string;
  readonly error: string | undefined;
  readonly calls: readonly string[];
  readonly ids: readonly string[];
  readonly content: string;
  readonly reasoning: string;
  readonly finish: string | null;
  readonly trace: Trace | undefined;
  /** What the server was asked, with its `text`. */
  readonly asked: Record<string, unknown>;
}

interface AskOptions {
  readonly path?: string;
  readonly body?: object;
  readonly kind?: WorkerKind;
  /** Sent as it is. */
  readonly raw?: string;
}

interface WireCall {
  readonly index?: number;
  readonly id?: string;
  readonly function: { readonly name?: string; readonly arguments?: string };
}

interface WirePart {
  readonly content?: string | null;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly WireCall[];
}

interface WireChoice {
  readonly delta?: WirePart;
  readonly message?: WirePart;
  readonly finish_reason: string | null;
}

const tool = (name: string): object => ({
  type: "function",
  function: { name, parameters: { type: "object", properties: {} } },
});

async function ask(answer: Answer, options: AskOptions = {}): Promise<Got> {
  const { path = "chat/completions", body = {}, kind = "openai", raw } = options;
  let asked: Record<string, unknown> = {};
  await using server = await serveHttp((request, response) => {
    if (responseProbe(request, response)) return;
    void bodyOf(request).then((given) => {
      asked = given;
      const type = Array.isArray(answer) ? "text/event-stream" : "application/json";
      response.writeHead(200, { "content-type": type });
      if (!Array.isArray(answer)) response.end(raw ?? JSON.stringify(answer));
      else {
        const events = answer.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`);
        response.end(`${events.join("")}data: [DONE]\n\n`);
      }
    });
  });
  await using world = await openWorld({
    maxAttempts: 1,
    workers: [{ url: `${server.url}/v1`, kind, modelName: "m" }],
  });
  const base =
    path === "responses" ? { input: "q" } : { messages: [{ role: "user", content: "q" }] };
  const offered = path === "chat/completions" ? { tools: [tool("f"), tool("g")] } : {};
  const stream = Array.isArray(answer) ? { stream: true } : {};
  const response = await world.post({ ...base, ...offered, ...stream, ...body }, { path });
  const text = await response.text();
  const events = response.headers.get("content-type")?.startsWith("text/event-stream")
    ? text.split("\n\n").flatMap((event) => (event.startsWith("data: {") ? [event.slice(6)] : []))
    : [text];
  const got = { content: "", reasoning: "", finish: null as string | null };
  const calls: { id: string; name: string; text: string }[] = [];
  let error: string | undefined;
  for (const event of events) {
    const json = JSON.parse(event) as { choices?: WireChoice[]; error?: { message: string } };
    error ??= json.error?.message;
    const [choice] = json.choices ?? [];
    const said = choice?.delta ?? choice?.message ?? {};
    got.content += said.content ?? "";
    got.reasoning += said.reasoning_content ?? "";
    got.finish = choice?.finish_reason ?? got.finish;
    for (const [i, { index = i, id = "", function: inner }] of (said.tool_calls ?? []).entries()) {
      const call = (calls[index] ??= { id: "", name: "", text: "" });
      call.id ||= id;
      call.name ||= inner.name ?? "";
      call.text += inner.arguments ?? "";
    }
  }
  return {
    ...got,
    status: response.status,
    text,
    error,
    calls: calls.map(({ name, text: given }) => `${name}(${given})`),
    ids: calls.map(({ id }) => id),
    trace: (await world.session.traces()).at(-1),
    asked,
  };
}

describe("tool calls in a stream", () => {
  const a1 = '{"a":1}';
  const b2 = '{"b":2}';
  const cases: readonly (readonly [string, readonly object[], readonly string[]])[] = [
    [
      "by their index",
      [
        called(part({ index: 0, id: "a" }, "f", '{"a"')),
        called(part({ index: 1, id: "b" }, "g", '{"b"')),
        called(part({ index: 0 }, undefined, ":1}"), part({ index: 1 }, undefined, ":2}")),
      ],
      [`f(${a1})`, `g(${b2})`],
    ],
    [
      "by their index, the second one first",
      [called(part({ index: 1, id: "b" }, "g", b2)), called(part({ index: 0, id: "a" }, "f", a1))],
      [`f(${a1})`, `g(${b2})`],
    ],
    [
      "all at index 0, with other ids",
      [called(part({ index: 0, id: "a" }, "f", a1)), called(part({ index: 0, id: "b" }, "g", b2))],
      [`f(${a1})`, `g(${b2})`],
    ],
    [
      "the same tool twice at index 0, with other ids",
      [called(part({ index: 0, id: "a" }, "f", a1)), called(part({ index: 0, id: "b" }, "f", b2))],
      [`f(${a1})`, `f(${b2})`],
    ],
    [
      "the same tool twice at index 0, without ids",
      [called(part({ index: 0 }, "f", a1)), called(part({ index: 0 }, "f", a1))],
      [`f(${a1})`, `f(${a1})`],
    ],
    [
      "all at index 0 in parts, each begun with an id",
      [
        called(part({ index: 0, id: "a" }, "f", "")),
        called(part({ index: 0 }, undefined, a1)),
        called(part({ index: 0, id: "b" }, "f", "")),
        called(part({ index: 0 }, undefined, b2)),
      ],
      [`f(${a1})`, `f(${b2})`],
    ],
    [
      "without an index, one a chunk",
      [called(part({ id: "a" }, "f", a1)), called(part({ id: "b" }, "g", b2))],
      [`f(${a1})`, `g(${b2})`],
    ],
    [
      "without an index, in parts that repeat the id",
      [
        called(part({ id: "a" }, "f", '{"a"'), part({ id: "b" }, "g", '{"b"')),
        called(part({ id: "b" }, undefined, ":2}"), part({ id: "a" }, undefined, ":1}")),
      ],
      [`f(${a1})`, `g(${b2})`],
    ],
    [
      "without index and id, one a chunk",
      [called(part({}, "f", a1)), called(part({}, "g", b2))],
      [`f(${a1})`, `g(${b2})`],
    ],
    [
      "without index and id, the same tool",
      [called(part({}, "f", a1)), called(part({}, "f", b2))],
      [`f(${a1})`, `f(${b2})`],
    ],
    [
      "without index and id, in parts",
      [
        called(part({}, "f", '{"a"')),
        called(part({}, undefined, ":1}")),
        called(part({}, "g", b2)),
      ],
      [`f(${a1})`, `g(${b2})`],
    ],
    [
      "without index and id, told apart by their places",
      [
        called(part({}, "f", '{"a"'), part({}, "g", '{"b"')),
        called(part({}, undefined, ":1}"), part({}, undefined, ":2}")),
      ],
      [`f(${a1})`, `g(${b2})`],
    ],
    [
      "in parts that repeat id and name",
      [
        called(part({ index: 0, id: "a" }, "f", '{"a"')),
        called(part({ index: 0, id: "a" }, "f", ":1}")),
      ],
      [`f(${a1})`],
    ],
    [
      "in parts with another id each",
      [
        called(part({ index: 0, id: "a" }, "f", '{"a"')),
        called(part({ index: 0, id: "b" }, undefined, ":1}")),
      ],
      [`f(${a1})`],
    ],
    [
      "in parts with names that are null or empty",
      [
        called(part({ index: 0, id: "a" }, "f", "")),
        called({ index: 0, id: null, function: { name: null, arguments: '{"a"' } }),
        called(part({ index: 0, id: "" }, "", ":1}")),
      ],
      [`f(${a1})`],
    ],
    [
      "whole, and whole once more at the end",
      [called(part({ index: 0, id: "a" }, "f", a1)), called(part({ index: 0, id: "a" }, "f", a1))],
      [`f(${a1})`],
    ],
    [
      "begun with an empty object",
      [
        called(part({ index: 0, id: "a" }, "f", "{}")),
        called(part({ index: 0 }, undefined, '{"a"')),
        called(part({ index: 0 }, undefined, ":1}")),
      ],
      [`f(${a1})`],
    ],
    [
      "with objects inside the arguments, in parts",
      [
        called(part({ index: 0, id: "a" }, "f", '{"a":{"b":1}')),
        called(part({ index: 0 }, undefined, ',"c":')),
        called(part({ index: 0 }, undefined, '{"d":{}}')),
        called(part({ index: 0 }, undefined, "}")),
      ],
      ['f({"a":{"b":1},"c":{"d":{}}})'],
    ],
    [
      "with arguments that are an object",
      [called(part({ index: 0, id: "a" }, "f", { a: 1 }))],
      [`f(${a1})`],
    ],
    [
      "with ids that are numbers",
      [called(part({ id: 7 }, "f", a1), part({ id: 8 }, "g", b2))],
      [`f(${a1})`, `g(${b2})`],
    ],
    ["without arguments", [called(part({ index: 0, id: "a" }, "f"))], ["f({})"]],
    [
      "as the older function_call",
      [
        delta({ function_call: { name: "f", arguments: "" } }),
        delta({ function_call: { arguments: '{"a"' } }),
        delta({ function_call: { arguments: ":1}" } }),
        delta({}, "function_call"),
      ],
      [`f(${a1})`],
    ],
    [
      "as an object instead of a list",
      [delta({ tool_calls: part({ id: "a" }, "f", a1) })],
      [`f(${a1})`],
    ],
  ];
  it.each(cases)("%s", async (_name, chunks, expected) => {
    const { calls, ids, error, finish, trace } = await ask([...chunks, end]);
    expect([error, calls, finish]).toEqual([undefined, expected, finish]);
    expect(new Set(ids).size).toBe(expected.length);
    expect(ids.every((id) => id !== "")).toBe(true);
    expect(trace?.response.toolCalls?.map(({ id }) => id)).toEqual(ids);
  });

  it("reads the same id of two calls as two calls, and gives one of them another", async () => {
    const { calls, ids } = await ask([
      called(part({ index: 0, id: "call" }, "f", a1)),
      called(part({ index: 1, id: "call" }, "g", b2)),
      end,
    ]);
    expect(calls).toEqual([`f(${a1})`, `g(${b2})`]);
    expect(new Set(ids).size).toBe(2);
  });

  it.each<readonly [string, readonly object[], string]>([
    ["no name", [called(part({ index: 0, id: "a" }, undefined, a1))], "without a name"],
    ["no call", [called(part({}, undefined, a1))], "had not begun"],
    [
      "arguments after their end",
      [called(part({ index: 0, id: "a" }, "f", a1)), called(part({ index: 0 }, undefined, b2))],
      "after their end",
    ],
  ])("is an error with %s", async (_name, chunks, why) => {
    const { error, trace } = await ask([...chunks, end]);
    expect(error).toContain(why);
    expect(trace).toBeUndefined();
  });
});

describe("whole responses", () => {
  it.each<readonly [string, object, readonly string[]]>([
    [
      "calls without an index",
      { tool_calls: [part({ id: "a" }, "f", "{}"), part({ id: "b" }, "f", "{}")] },
      ["f({})", "f({})"],
    ],
    [
      "calls with one index",
      { tool_calls: [part({ index: 0 }, "f", '{"a":1}'), part({ index: 0 }, "f", '{"a":1}')] },
      ['f({"a":1})', 'f({"a":1})'],
    ],
    ["the older function_call", { function_call: { name: "f", arguments: "{}" } }, ["f({})"]],
    ["no arguments", { tool_calls: [part({ id: "a" }, "f")] }, ["f({})"]],
    ["empty arguments", { tool_calls: [part({ id: "a" }, "f", " ")] }, ["f({})"]],
    ["arguments null", { tool_calls: [part({ id: "a" }, "f", "null")] }, ["f({})"]],
    ["arguments of the value null", { tool_calls: [part({ id: "a" }, "f", null)] }, ["f({})"]],
  ])("%s", async (_name, message, expected) => {
    const { calls, finish } = await ask(whole({ content: null, ...message }, "tool_calls"));
    expect([calls, finish]).toEqual([expected, "tool_calls"]);
  });

  it("keeps the digits of arguments that are an object", async () => {
    const text = '{"b":1.0,"10":[1e-07,9007199254740993],"2":-0.0}';
    const raw = JSON.stringify(whole({ tool_calls: [part({ id: "a" }, "f", "HERE")] }));
    const { calls } = await ask({}, { raw: raw.replace('"HERE"', text) });
    expect(calls).toEqual([`f(${text})`]);
  });

  it("keeps them on the way to Anthropic's protocol", async () => {
    const text = '{"b": 1.0, "10": 1e-07, "2": 9007199254740993}';
    const answer = whole({ tool_calls: [part({ id: "a" }, "f", text)] }, "tool_calls");
    const body = { max_tokens: 9, tools: [{ name: "f", input_schema: {} }] };
    const got = await ask(answer, { path: "messages", body });
    expect(got.text).toContain(`"input":${text}`);
    for (const none of [undefined, "", "null", null]) {
      const empty = whole({ tool_calls: [part({ id: "a" }, "f", none)] }, "tool_calls");
      // oxlint-disable-next-line no-await-in-loop
      expect((await ask(empty, { path: "messages", body })).text).toContain('"input":{}');
    }
  });
});

describe("content", () => {
  const image = { type: "image_url", image_url: { url: "data:," } };
  const text = { type: "text", text: "hi" };
  const cases: readonly (readonly [string, object, Partial<Got>])[] = [
    ["a list of parts", { content: [text] }, { content: "hi" }],
    [
      "several parts",
      { content: [text, { type: "output_text", text: " you" }] },
      { content: "hi you" },
    ],
    ["texts in a list", { content: ["h", "i"] }, { content: "hi" }],
    ["a part without a list", { content: text }, { content: "hi" }],
    ["an empty list", { content: [] }, { content: "" }],
    ["a refusal", { content: null, refusal: "no" }, { content: "no" }],
    ["a part that refuses", { content: [{ type: "refusal", refusal: "no" }] }, { content: "no" }],
    [
      "a part of thinking",
      { content: [{ type: "thinking", thinking: [{ type: "text", text: "hm" }] }, text] },
      { content: "hi", reasoning: "hm" },
    ],
    [
      "reasoning under its two names",
      { reasoning: "", reasoning_content: "hm", content: "hi" },
      { content: "hi", reasoning: "hm" },
    ],
    ["null", { content: null }, { content: "" }],
  ];
  it.each(cases)("%s", async (_name, message, expected) => {
    expect(await ask(whole(message))).toMatchObject(expected);
    expect(await ask([delta(message), delta({}, "stop")])).toMatchObject(expected);
  });

  it.each<readonly [string, object]>([
    ["an image", { content: [text, image] }],
    ["audio", { content: null, audio: { id: "a", data: "" } }],
    ["images of a router", { content: "hi", images: [image] }],
    ["a number", { content: 7 }],
  ])("is an error with %s", async (_name, message) => {
    expect((await ask(whole(message))).error).toContain("sent content of the type");
    const streamed = await ask([delta(message), delta({}, "stop")]);
    expect(streamed.error).toContain("sent content of the type");
  });
});

describe("the end of a response", () => {
  it("says that a filter ended it, in every protocol, and is not trained on", async () => {
    const filtered = whole({ content: "hi" }, "content_filter");
    const chat = await ask(filtered);
    expect([chat.content, chat.finish]).toEqual(["hi", "content_filter"]);
    expect(chat.trace?.untrainable).toContain("filter");
    const stream = await ask([delta({ content: "hi" }), delta({}, "content_filter")]);
    expect([stream.content, stream.finish]).toEqual(["hi", "content_filter"]);
    const messages = await ask(filtered, { path: "messages", body: { max_tokens: 9 } });
    expect(messages.text).toContain('"stop_reason":"refusal"');
    const responses = await ask(filtered, { path: "responses" });
    expect(responses.text).toContain('"incomplete_details":{"reason":"content_filter"}');
  });

  it.each([
    ["length", "length"],
    ["max_tokens", "length"],
    ["MAX_TOKENS", "length"],
    ["model_length", "length"],
    ["eos", "stop"],
    ["STOP", "stop"],
  ])("%s is %s", async (given, expected) => {
    expect((await ask(whole({ content: "hi" }, given))).finish).toBe(expected);
  });

  it.each([["error"], ["insufficient_system_resource"]])("%s is an error", async (given) => {
    expect((await ask(whole({ content: "hi" }, given))).error).toContain(given);
  });

  it("skips chunks without choices, and counts those of usage", async () => {
    const usage = {
      prompt_tokens: 5,
      completion_tokens: 7,
      completion_tokens_details: { reasoning_tokens: 3 },
    };
    const chunks = [
      { choices: [] },
      delta({ content: "hi" }),
      delta({}, "stop"),
      { choices: [], usage },
    ];
    const got = await ask(chunks, { body: { stream_options: { include_usage: true } } });
    expect(got.content).toBe("hi");
    expect(got.text).toContain('"completion_tokens_details":{"reasoning_tokens":3}');
    expect((await ask({ choices: [], usage })).error).toContain("before it was complete");
    const responses = await ask({ ...whole({ content: "hi" }), usage }, { path: "responses" });
    expect(responses.text).toContain('"output_tokens_details":{"reasoning_tokens":3}');
  });
});

describe("what a server is asked", () => {
  const answer = whole({ content: "hi" });
  const named = (name: string): object => ({ type: "function", function: { name } });
  const askFor = async (body: object, options: AskOptions = {}) =>
    (await ask(answer, { ...options, body })).asked;

  it("has some of the tools where the others may not be called", async () => {
    const choice = (mode: string, ...names: readonly string[]) => ({
      tool_choice: { type: "allowed_tools", allowed_tools: { mode, tools: names.map(named) } },
    });
    const auto = await askFor(choice("auto", "g"));
    expect([auto["tool_choice"], auto["tools"]]).toEqual(["auto", [tool("g")]]);
    const many = await askFor(choice("required", "f", "g"));
    expect([many["tool_choice"], many["tools"]]).toEqual(["required", [tool("f"), tool("g")]]);
    const one = await askFor(choice("required", "g"));
    expect([one["tool_choice"], one["tools"]]).toEqual([named("g"), [tool("f"), tool("g")]]);
  });

  it("is trained on where the choice forces nothing", async () => {
    const untrainable = async (tool_choice: unknown) =>
      (await ask(answer, { body: { tool_choice } })).trace?.untrainable;
    expect(await untrainable("required")).toContain("tool_choice forced");
    const allowed = { mode: "auto", tools: [named("g")] };
    expect(await untrainable({ type: "allowed_tools", ...allowed })).not.toContain("forced");
  });

  it("has what was asked of calls", async () => {
    const strict = { type: "function", function: { name: "f", strict: true } };
    const asked = await askFor({ tools: [strict, tool("g")], parallel_tool_calls: false });
    expect(asked["parallel_tool_calls"]).toBe(false);
    expect(asked["tools"]).toEqual([strict, tool("g")]);
  });

  it.each<readonly [WorkerKind, object, object]>([
    ["openai", { reasoning_effort: "high" }, { reasoning_effort: "high" }],
    ["openai", { thinking: { type: "disabled" } }, { reasoning_effort: "none" }],
    [
      "vllm",
      { reasoning_effort: "none" },
      { chat_template_kwargs: { enable_thinking: false, thinking: false } },
    ],
    [
      "vllm",
      { reasoning_effort: "low" },
      {
        reasoning_effort: "low",
        chat_template_kwargs: { enable_thinking: true, thinking: true },
      },
    ],
    ["sglang", { chat_template_kwargs: { x: 1 } }, { chat_template_kwargs: { x: 1 } }],
    ["openai", {}, {}],
  ])("says whether to reason: %s %j", async (kind, body, expected) => {
    const { reasoning_effort: effort, chat_template_kwargs: variables } = await askFor(body, {
      kind,
    });
    expect(
      JSON.parse(JSON.stringify({ reasoning_effort: effort, chat_template_kwargs: variables })),
    ).toEqual(expected);
  });
});
