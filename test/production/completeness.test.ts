/**
 * Whether a recorded call is whole: how services and SDKs say how a response ended, and what damage looks like. The
 * words are those of the published API references (OpenAI, Anthropic, Google, Amazon, Cohere, Mistral, Ollama).
 */
import { describe, expect, it } from "vitest";
import { conversationDamage } from "../../src/core/completeness.ts";
import { interpret } from "../../src/production/conventions/interpret.ts";
import { isCutJson } from "../../src/production/messages/cut-json.ts";
import { endingOf } from "../../src/production/messages/endings.ts";
import { readMessages } from "../../src/production/messages/read-messages.ts";
import { readResponse } from "../../src/production/messages/read-response.ts";
import { collectAndCurate, turnsIn } from "./curated.ts";

const json = JSON.stringify;
const asked = [{ role: "user", content: "Tell me about hats" }];
const half = "Hats are worn on the";

/** A call of a model, as a file or a span of each source has it; `said` are the fields that say how it ended. */
const observation = (output: unknown, more: object = {}): object => ({
  ...{ id: "g", traceId: "t", type: "GENERATION", startTime: "2025-01-01T00:00:00Z", model: "m" },
  ...{ input: asked, output },
  ...more,
});
const run = (outputs: unknown, more: object = {}): object => ({
  ...{ id: "r", trace_id: "r", run_type: "llm", start_time: "2025-01-01T00:00:00" },
  ...{ inputs: { messages: asked }, outputs },
  ...more,
});
const request = (response_body: unknown, request_body: object = {}): object => ({
  ...{ request_id: "h", request_created_at: "2025-01-01T00:00:00Z", response_status: 200 },
  ...{ request_body: { messages: asked, ...request_body }, response_body },
});
const event = (output: unknown, more: object = {}): object => ({
  ...{ span_id: "b", root_span_id: "b", span_attributes: { type: "llm" }, input: asked, output },
  ...more,
});
const attribute = (key: string, value: unknown): object => ({
  key,
  value: Array.isArray(value)
    ? { arrayValue: { values: value.map((one) => ({ stringValue: one as string })) } }
    : typeof value === "number"
      ? { intValue: String(value) }
      : { stringValue: value },
});
const spans = (
  attributes: Readonly<Record<string, unknown>>,
  more: object = {},
  events: readonly { name: string; attributes: Readonly<Record<string, unknown>> }[] = [],
): object => {
  const list = (given: Readonly<Record<string, unknown>>): object[] =>
    Object.entries(given).map(([key, value]) => attribute(key, value));
  const span = {
    ...{ traceId: "a".repeat(32), spanId: "b".repeat(16), name: "chat", ...more },
    attributes: list(attributes),
    events: events.map(({ name, attributes: own }) => ({ name, attributes: list(own) })),
  };
  return { resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] };
};
const genAi = {
  ...{ "gen_ai.operation.name": "chat", "gen_ai.request.model": "m" },
  "gen_ai.input.messages": json([{ role: "user", parts: [{ type: "text", content: "Hats?" }] }]),
  "gen_ai.output.messages": json([{ role: "assistant", parts: [{ type: "text", content: half }] }]),
};
const traceloop = {
  ...{ "llm.request.type": "chat", "gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": "q" },
  ...{ "gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.content": half },
};
const inference = {
  ...{ "openinference.span.kind": "LLM", "llm.input_messages.0.message.role": "user" },
  "llm.input_messages.0.message.content": "q",
  "llm.output_messages.0.message.role": "assistant",
  "llm.output_messages.0.message.content": half,
};
const sdk = {
  ...{ "ai.operationId": "ai.streamText.doStream", "ai.prompt.messages": json(asked) },
  "ai.response.text": half,
};
const langfuse = {
  "langfuse.observation.type": "generation",
  "langfuse.observation.input": json(asked),
};
const message = { role: "assistant", content: half };
const lc = (fields: object): object => ({
  ...{ lc: 1, type: "constructor", id: ["langchain_core", "messages", "AIMessageChunk"] },
  kwargs: { content: half, ...fields },
});

const cases: readonly (readonly [string, string, object])[] = [
  ["cut off", "langfuse", observation({ choices: [{ message, finish_reason: "length" }] })],
  ["cut off", "langfuse", observation([{ message, finish_reason: "model_length" }])],
  ["cut off", "langfuse", observation(json({ ...message, stop_reason: "max_tokens" }))],
  [
    "cut off",
    "langfuse",
    observation(message, { metadata: { "gen_ai.response.finish_reasons": ["length"] } }),
  ],
  ["cut off", "langfuse", observation(message, { metadata: json({ finish_reason: "length" }) })],
  [
    "cut off",
    "langfuse",
    observation(half, { metadata: { attributes: { "ai.response.finishReason": "length" } } }),
  ],
  ["cut off", "langfuse", observation({ model: "l", message, done: true, done_reason: "length" })],
  [
    "cut off",
    "langfuse",
    observation({
      candidates: [
        { content: { role: "model", parts: [{ text: half }] }, finishReason: "MAX_TOKENS" },
      ],
    }),
  ],
  [
    "filtered",
    "langfuse",
    observation({ candidates: [{ content: { parts: [{ text: half }] }, finishReason: "SAFETY" }] }),
  ],
  ["cut off", "langfuse", observation({ text: half, finishReason: "length", toolCalls: [] })],
  [
    "cut off",
    "langfuse",
    observation(message, { modelParameters: { max_tokens: 5 }, usage: { input: 3, output: 5 } }),
  ],
  [
    "cut off",
    "langfuse",
    observation(half, { modelParameters: { maxTokens: "5" }, usageDetails: { output: 5 } }),
  ],
  [
    "filtered",
    "langfuse",
    observation({
      role: "assistant",
      content: [{ type: "text", text: half }],
      stop_reason: "refusal",
    }),
  ],
  [
    "interrupted",
    "langfuse",
    observation({
      role: "assistant",
      content: [{ type: "text", text: half }],
      stop_reason: "pause_turn",
    }),
  ],
  [
    "cut off",
    "langfuse",
    observation({
      role: "assistant",
      content: [{ type: "text", text: half }],
      stop_reason: "model_context_window_exceeded",
    }),
  ],
  [
    "filtered",
    "langfuse",
    observation({
      output: { message: { role: "assistant", content: [{ text: half }] } },
      stopReason: "guardrail_intervened",
    }),
  ],
  [
    "cut off",
    "langsmith",
    run({ generations: [[{ text: half, generation_info: { finish_reason: "length" } }]] }),
  ],
  [
    "cut off",
    "langsmith",
    run({
      generations: [
        [{ text: half, generationInfo: { finishReason: "MAX_TOKENS" }, message: lc({}) }],
      ],
    }),
  ],
  [
    "cut off",
    "langsmith",
    run({ generations: [[{ message: lc({ response_metadata: { stop_reason: "max_tokens" } }) }]] }),
  ],
  [
    "cut off",
    "langsmith",
    run({ generations: [[{ message: lc({ response_metadata: { stopReason: "max_tokens" } }) }]] }),
  ],
  [
    "cut off",
    "langsmith",
    run({
      generations: [[{ message: lc({ response_metadata: { finish_reason: "lengthlength" } }) }]],
    }),
  ],
  [
    "filtered",
    "langsmith",
    run({
      generations: [[{ message: lc({ response_metadata: { finish_reason: "content_filter" } }) }]],
    }),
  ],
  [
    "cut off",
    "langsmith",
    run({
      content: [{ type: "text", text: half }],
      role: "assistant",
      type: "message",
      stop_reason: "max_tokens",
    }),
  ],
  ["cut off", "langsmith", run({ output: { ...message, finish_reason: "length" } })],
  [
    "interrupted",
    "helicone",
    request({
      object: "response",
      status: "failed",
      output: [
        { type: "message", role: "assistant", content: [{ type: "output_text", text: half }] },
      ],
    }),
  ],
  [
    "filtered",
    "helicone",
    request({
      object: "response",
      status: "incomplete",
      incomplete_details: { reason: "content_filter" },
      output: [
        { type: "message", role: "assistant", content: [{ type: "output_text", text: half }] },
      ],
    }),
  ],
  [
    "cut off",
    "helicone",
    request({ choices: [{ message }], usage: { completion_tokens: 5 } }, { max_tokens: 5 }),
  ],
  [
    "missing messages",
    "helicone",
    request(
      {
        object: "response",
        status: "completed",
        output: [
          { type: "message", role: "assistant", content: [{ type: "output_text", text: half }] },
        ],
      },
      { messages: undefined, input: "And then?", previous_response_id: "resp_1" },
    ),
  ],
  [
    "unknown item",
    "helicone",
    request({ streamed: [{ choices: [{ delta: { content: half } }] }] }),
  ],
  ["cut off", "braintrust", event(half, { metadata: { finish_reason: "length" } })],
  ["cut off", "braintrust", event({ ...message, stop_reason: "max_tokens" })],
  [
    "cut off",
    "braintrust",
    event(half, { metadata: { max_tokens: 4 }, metrics: { completion_tokens: 4 } }),
  ],
  [
    "cut off",
    "openai",
    { request: { messages: asked }, response: { choices: [{ message, finish_reason: "length" }] } },
  ],
  ["cut off", "openai", { messages: [...asked, { ...message, finish_reason: "length" }] }],
  ["cut off", "openai", { messages: [...asked, message], finish_reason: "length" }],
  [
    "interrupted",
    "openai",
    {
      request: { input: "q" },
      response: {
        status: "cancelled",
        output: [
          {
            type: "message",
            role: "assistant",
            status: "incomplete",
            content: [{ type: "output_text", text: half }],
          },
        ],
      },
    },
  ],
  ["cut off", "otel", spans({ ...genAi, "gen_ai.response.finish_reasons": '["length"]' })],
  [
    "cut off",
    "otel",
    spans({ ...genAi, "gen_ai.response.finish_reasons": ["FinishReason.MAX_TOKENS"] }),
  ],
  ["filtered", "otel", spans({ ...genAi, "gen_ai.response.finish_reasons": ["content_filter"] })],
  ["interrupted", "otel", spans({ ...genAi, "gen_ai.response.finish_reasons": ["error"] })],
  [
    "cut off",
    "otel",
    spans({ ...genAi, "gen_ai.request.max_tokens": 6, "gen_ai.usage.output_tokens": 6 }),
  ],
  [
    "cut off",
    "otel",
    spans({ "gen_ai.operation.name": "chat" }, {}, [
      { name: "gen_ai.user.message", attributes: { content: "q" } },
      {
        name: "gen_ai.choice",
        attributes: { finish_reason: "length", message: json({ content: half }) },
      },
    ]),
  ],
  [
    "cut off",
    "otel",
    spans({ "gen_ai.operation.name": "chat" }, {}, [
      {
        name: "gen_ai.user.message",
        attributes: { "gen_ai.event.content": json({ content: "q" }) },
      },
      {
        name: "gen_ai.choice",
        attributes: {
          "gen_ai.event.content": json({
            index: 0,
            finish_reason: "max_tokens",
            message: { content: half },
          }),
        },
      },
    ]),
  ],
  [
    "several answers",
    "otel",
    spans({ "gen_ai.operation.name": "chat" }, {}, [
      { name: "gen_ai.user.message", attributes: { content: "q" } },
      { name: "gen_ai.choice", attributes: { index: 0, message: json({ content: "A" }) } },
      { name: "gen_ai.choice", attributes: { index: 1, message: json({ content: "B" }) } },
    ]),
  ],
  ["cut off", "otel", spans({ ...traceloop, "gen_ai.completion.0.finish_reason": "length" })],
  ["cut off", "otel", spans({ ...traceloop, "llm.response.stop_reason": "max_tokens" })],
  [
    "several answers",
    "otel",
    spans({
      ...traceloop,
      "gen_ai.completion.1.role": "assistant",
      "gen_ai.completion.1.content": "B",
    }),
  ],
  [
    "missing messages",
    "otel",
    spans({ ...traceloop, "gen_ai.prompt.2.role": "user", "gen_ai.prompt.2.content": "r" }),
  ],
  [
    "cut off",
    "otel",
    spans({
      ...inference,
      "output.value": json({ id: "c", choices: [{ message, finish_reason: "length" }] }),
    }),
  ],
  [
    "cut off",
    "otel",
    spans({ ...inference, "llm.output_messages.0.message.finish_reason": "length" }),
  ],
  [
    "cut off",
    "otel",
    spans({
      ...inference,
      "llm.invocation_parameters": '{"max_tokens": 7}',
      "llm.token_count.completion": 7,
    }),
  ],
  [
    "missing text",
    "otel",
    spans({ ...inference, "llm.output_messages.0.message.content": "__REDACTED__" }),
  ],
  ["missing text", "otel", spans({ ...inference, "llm.input_messages.1.message.role": "user" })],
  ["filtered", "otel", spans({ ...sdk, "ai.response.finishReason": "content-filter" })],
  ["interrupted", "otel", spans({ ...sdk, "ai.response.finishReason": "error" })],
  [
    "cut off",
    "otel",
    spans({ ...sdk, "ai.settings.maxOutputTokens": 9, "ai.usage.outputTokens": 9 }),
  ],
  ["lost arguments", "otel", spans({ ...sdk, "ai.response.finishReason": "tool-calls" })],
  [
    "cut off",
    "otel",
    spans({
      ...langfuse,
      "langfuse.observation.output": json({ ...message, finish_reason: "length" }),
    }),
  ],
  [
    "cut off",
    "otel",
    spans({
      ...langfuse,
      "langfuse.observation.output": half,
      "langfuse.observation.model.parameters": '{"max_tokens":3}',
      "langfuse.observation.usage_details": '{"output":3}',
    }),
  ],
  // Limits of attributes.
  [
    "attribute limit",
    "otel",
    spans({ ...genAi, "gen_ai.output.messages": genAi["gen_ai.output.messages"].slice(0, 61) }),
  ],
  [
    "attribute limit",
    "otel",
    spans({
      ...genAi,
      "gen_ai.output.messages": `${genAi["gen_ai.output.messages"].slice(0, 61)}...`,
    }),
  ],
  [
    "attribute limit",
    "otel",
    spans({ ...genAi, "gen_ai.input.messages": genAi["gen_ai.input.messages"].slice(0, 1) }),
  ],
  [
    "attribute limit",
    "otel",
    spans({ ...genAi, "gen_ai.system_instructions": '[{"type":"text","content":"Be ' }),
  ],
  ["attribute limit", "otel", spans(genAi, { droppedAttributesCount: 2 })],
  ["attribute limit", "otel", spans(genAi, { droppedEventsCount: 1 })],
  [
    "attribute limit",
    "otel",
    spans({
      ...inference,
      "llm.input_messages.0.message.content":
        "Tell me all there is to know about the hats that people wear, an",
      "llm.output_messages.0.message.content":
        "Hats are worn on the head, and they are made of wool or of straw",
    }),
  ],
  [
    "attribute limit",
    "otel",
    spans({ "gen_ai.operation.name": "chat" }, {}, [
      { name: "gen_ai.content.prompt", attributes: { "gen_ai.prompt": json(asked) } },
      {
        name: "gen_ai.content.completion",
        attributes: { "gen_ai.completion": '[{"role":"assistant","con' },
      },
    ]),
  ],
  [
    "attribute limit",
    "langfuse",
    observation('{"choices":[{"message":{"role":"assistant","content":"Ha'),
  ],
  [
    "attribute limit",
    "otel",
    spans({
      ...{ "ai.operationId": "ai.generateObject.doGenerate", "ai.response.object": '{"price": 4' },
      "ai.prompt.messages": json(asked),
    }),
  ],
  [
    "attribute limit",
    "otel",
    spans({ ...traceloop, "gen_ai.completion.0.content": '{"price": 4' }),
  ],
  ["missing text", "langfuse", observation({ role: "assistant", content: null })],
  ["missing text", "langfuse", observation("<truncated due to size exceeding limit>")],
];

describe("a response that is not whole", () => {
  it.each(cases)("%s: %s %j", (why, format, row) => {
    expect(turnsIn(format, row).map(({ flaw }) => flaw)).toEqual([why]);
  });
});

describe("a response that is whole", () => {
  it.each<readonly [string, object, string, number]>([
    ["langfuse", observation({ choices: [{ message, finish_reason: "stop" }] }), half, 0],
    ["langfuse", observation(message), half, 1],
    [
      "langfuse",
      observation({ role: "assistant", content: null, refusal: "I cannot." }),
      "I cannot.",
      1,
    ],
    [
      "langfuse",
      observation({
        role: "assistant",
        content: [
          { type: "text", text: "It is" },
          { type: "text", text: " blue." },
        ],
        stop_reason: "end_turn",
      }),
      "It is blue.",
      0,
    ],
    ["langfuse", observation({ role: "assistant", content: { price: 46 } }), '{"price":46}', 1],
    [
      "langfuse",
      observation({ status: "failed", reason: "no stock" }),
      '{"status":"failed","reason":"no stock"}',
      1,
    ],
    ["langfuse", observation("[1] says that hats"), "[1] says that hats", 1],
    ["langfuse", observation("{oops"), "{oops", 1],
    ["langfuse", observation('"To be'), '"To be', 1],
    ["langfuse", observation(46), "46", 1],
    ["langfuse", observation([{ name: "hat" }]), '[{"name":"hat"}]', 1],
    [
      "langsmith",
      run({
        generations: [[{ message: lc({ response_metadata: { finish_reason: "stopstop" } }) }]],
      }),
      half,
      0,
    ],
    [
      "helicone",
      request(
        {
          object: "response",
          status: "completed",
          output: [
            { type: "reasoning", summary: [] },
            {
              type: "message",
              role: "assistant",
              status: "completed",
              content: [
                { type: "output_text", text: "A" },
                { type: "output_text", text: "B" },
              ],
            },
          ],
        },
        { messages: undefined, input: "q", instructions: "Be short." },
      ),
      "AB",
      0,
    ],
    [
      "helicone",
      request(
        { choices: [{ message, finish_reason: "stop" }], usage: { completion_tokens: 5 } },
        { max_tokens: 5 },
      ),
      half,
      0,
    ],
    ["braintrust", event([{ message, finish_reason: "COMPLETE" }]), half, 0],
    ["otel", spans({ ...genAi, "gen_ai.response.finish_reasons": ["STOP"] }), half, 0],
    ["otel", spans({ ...genAi, "gen_ai.response.finish_reasons": ["unknown"] }), half, 1],
    ["otel", spans({ ...sdk, "ai.response.finishReason": "stop" }), half, 0],
    [
      "otel",
      spans({
        ...inference,
        "user.id": "0b9f3c1e-93cd-4b5a-8a2c-5d6e7f809101",
        "session.id": "1b9f3c1e-93cd-4b5a-8a2c-5d6e7f809101",
      }),
      half,
      1,
    ],
  ])("%s %j", (format, row, answer, unknownEnds) => {
    const [turn, ...others] = turnsIn(format, row);
    expect([turn!.flaw, turn!.isEndKnown, others]).toEqual([null, unknownEnds === 0, []]);
    expect(turn!.completion.at(-1)!.content).toBe(answer);
  });
});

it.each([
  [
    "complete",
    [
      "stop",
      "end_turn",
      "STOP",
      "stop_sequence",
      "tool_calls",
      "tool-calls",
      "tool_use",
      "function_call",
      "COMPLETE",
      "eos_token",
      "endTurn",
    ],
  ],
  [
    "cut off",
    [
      "length",
      "max_tokens",
      "MAX_TOKENS",
      "max_output_tokens",
      "model_length",
      "ERROR_LIMIT",
      "FinishReason.MAX_TOKENS",
      "<FinishReason.MAX_TOKENS: 2>",
      "model_context_window_exceeded",
    ],
  ],
  [
    "filtered",
    [
      "content_filter",
      "content-filter",
      "SAFETY",
      "RECITATION",
      "BLOCKLIST",
      "PROHIBITED_CONTENT",
      "SPII",
      "guardrail_intervened",
      "refusal",
      "content_filtered",
      "IMAGE_SAFETY",
    ],
  ],
  [
    "interrupted",
    [
      "error",
      "cancelled",
      "abort",
      "MALFORMED_FUNCTION_CALL",
      "pause_turn",
      "insufficient_system_resource",
      "in_progress",
    ],
  ],
  ["unknown", ["unknown", "", "other", "FINISH_REASON_UNSPECIFIED", "weird", 7, null, undefined]],
])("words for %s", (expected, words) => {
  for (const word of words) {
    const { damage, isKnown } = endingOf([word]);
    expect([...damage][0] ?? (isKnown ? "complete" : "unknown"), String(word)).toBe(expected);
  }
});

it("knows JSON that was cut anywhere, and text that only begins like it", () => {
  const whole = json([{ role: "a", n: [1, -2.5e3, true, null], t: 'q "\u00e9\\ ' }, "é\n"]);
  for (let end = 1; end < whole.length; end++)
    expect(isCutJson(whole.slice(0, end)), whole.slice(0, end)).toBe(true);
  expect(isCutJson(whole)).toBe(false);
  for (const text of [
    "[Note] Hats",
    "{oops",
    "[1] a",
    "[see above",
    "hello",
    '"a',
    "{'role': 'user'",
    "[] and",
  ])
    expect(isCutJson(text), text).toBe(false);
});

it("takes linear time for many calls, items and results", () => {
  const many = Array.from({ length: 20_000 }, (_, i) => i);
  const calls = many.map((i) => ({ type: "tool_use", id: `c${i}`, name: `f${i}`, input: {} }));
  const began = performance.now();
  const { messages, damage } = readMessages([
    { role: "assistant", content: calls, tool_calls: calls.map(({ id, name }) => ({ id, name })) },
    ...many.toReversed().map((i) => ({ role: "tool", tool_call_id: `c${i}`, content: "ok" })),
    ...many.map((i) => ({ type: "function_call", name: `f${i}`, arguments: "{}" })),
    ...many.toReversed().map((i) => ({ role: "function", name: `f${i}`, content: "ok" })),
  ]);
  conversationDamage(messages);
  expect([messages.length, damage.size]).toEqual([40_002, 0]);
  expect(performance.now() - began).toBeLessThan(4000);
});

it("takes linear time and little stack", () => {
  for (const piece of ["[", "{", '{"a":', '"', "\\", " ", "...", "[truncated"]) {
    const text = `[${piece.repeat(50_000)}`;
    const began = performance.now();
    readMessages(text);
    readResponse(text);
    endingOf([text]);
    expect(performance.now() - began).toBeLessThan(2000);
  }
});

describe("arguments", () => {
  const args = (...parts: readonly unknown[]): unknown =>
    readMessages(parts).messages.map(({ toolCalls }) => toolCalls?.map((one) => one.arguments));
  const use = { type: "tool_use", id: "c", name: "f" };

  it.each([
    [{ content: [{ ...use, input: { a: 1 } }] }, ['{"a":1}']],
    [{ content: [{ ...use, input: {} }] }, ["{}"]],
    [{ content: [{ ...use, input: {}, partial_json: '{"a":1}' }] }, ['{"a":1}']],
    [
      {
        content: [
          { ...use, input: "" },
          { type: "input_json_delta", partial_json: '{"a"' },
          { type: "input_json_delta", partial_json: ":1}" },
        ],
      },
      ['{"a":1}'],
    ],
    [
      { content: [{ ...use, input: {} }], tool_calls: [{ id: "c", name: "f", args: { a: 1 } }] },
      ['{"a":1}'],
    ],
    [
      {
        content: [{ type: "tool_use", name: "f", input: "" }],
        tool_calls: [{ name: "f", args: { a: 1 } }],
      },
      ['{"a":1}'],
    ],
    [
      { content: [{ ...use, input: { a: 1 } }], tool_calls: [{ id: "d", name: "g", args: {} }] },
      ['{"a":1}', "{}"],
    ],
    [
      {
        content: "",
        tool_calls: [],
        additional_kwargs: {
          tool_calls: [{ id: "c", function: { name: "f", arguments: '{"a":1.0}' } }],
        },
      },
      ['{"a":1.0}'],
    ],
    [{ content: null, function_call: { name: "f", arguments: '{"a":1}' } }, ['{"a":1}']],
    [{ parts: [{ functionCall: { name: "f", args: { a: 1 } } }] }, ['{"a":1}']],
    [{ parts: [{ function_call: { name: "f", args: { a: 1 } } }] }, ['{"a":1}']],
    [{ content: [{ toolUse: { toolUseId: "c", name: "f", input: { a: 1 } } }] }, ['{"a":1}']],
  ])("%j", (fields, expected) => {
    expect(args({ role: "assistant", ...fields })).toEqual([expected]);
  });

  it("are lost where a call has none, unless its tool takes none", async () => {
    const called = (tools: readonly object[], call: object): object => ({
      messages: [
        ...asked,
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "c", type: "function", function: call }],
        },
        { role: "tool", tool_call_id: "c", content: "ok" },
        message,
      ],
      tools: tools.map((one) => ({ type: "function", function: one })),
    });
    const none = { name: "now", parameters: { type: "object", properties: {} } };
    const one = { name: "now", parameters: { type: "object", properties: { at: {} } } };
    const { report, demonstrations } = await collectAndCurate("openai", [
      called([none], { name: "now", arguments: "" }),
      called([one], { name: "now", arguments: "" }),
      called([one], { name: "now" }),
      called([one], { name: "now", arguments: '{"at": 1' }),
      called([one], { name: "now", arguments: "[1]" }),
      called([one], { arguments: "{}" }),
    ]);
    expect(report.dropped).toEqual({ "lost arguments": 5 });
    expect(demonstrations).toMatchObject([
      { completion: [{ tool_calls: [{ function: { arguments: "{}" } }] }, {}, {}] },
    ]);
  });
});

describe("results", () => {
  const call = (...ids: readonly string[]): object => ({
    role: "assistant",
    content: null,
    tool_calls: ids.map((id) => ({ id, function: { name: `f${id}`, arguments: "{}" } })),
  });
  const gives = (id: string): object => ({ role: "tool", tool_call_id: id, content: "ok" });

  it.each<readonly [string | null, readonly object[]]>([
    [null, [call("1", "2"), gives("2"), gives("1")]],
    [null, [call("1"), gives("1"), call("1"), gives("1")]],
    [
      null,
      [
        { role: "assistant", content: "", function_call: { name: "f", arguments: "{}" } },
        { role: "function", name: "f", content: "ok" },
      ],
    ],
    [
      null,
      [
        {
          role: "model",
          parts: [
            { functionCall: { name: "f", args: {} } },
            { functionCall: { name: "g", args: {} } },
          ],
        },
        {
          role: "user",
          parts: [
            { functionResponse: { name: "g", response: {} } },
            { functionResponse: { name: "f", response: {} } },
          ],
        },
      ],
    ],
    [
      null,
      [
        { type: "function_call", call_id: "1", name: "f", arguments: "{}" },
        { type: "function_call", call_id: "2", name: "g", arguments: "{}" },
        { type: "function_call_output", call_id: "1", output: "a" },
        { type: "function_call_output", call_id: "2", output: "b" },
      ],
    ],
    ["missing tool result", [call("1", "2"), gives("1")]],
    ["missing tool result", [call("1"), { role: "user", content: "Well?" }]],
    ["missing tool result", [call("1"), { role: "tool", tool_call_id: "1" }]],
    [
      "missing tool result",
      [
        { type: "function_call", call_id: "1", name: "f", arguments: "{}" },
        { type: "function_call_output", call_id: "1" },
      ],
    ],
    [
      "missing tool result",
      [
        call("1"),
        {
          role: "tool",
          content: [{ type: "tool-approval-response", approvalId: "x", approved: true }],
        },
      ],
    ],
    ["tool result without its call", [gives("1")]],
    ["tool result without its call", [call("1"), gives("1"), gives("2")]],
    [
      "tool result without its call",
      [call("1"), gives("1"), { role: "user", content: "q" }, gives("1")],
    ],
    ["tool of the service", [{ type: "web_search_call", id: "w" }]],
    [
      "tool of the service",
      [{ role: "assistant", content: [{ type: "code_execution_tool_result", content: [] }] }],
    ],
    ["unknown item", [{ type: "item_reference", id: "x" }]],
    ["unknown item", [{ role: "narrator", content: "x" }]],
    ["unknown item", [{ role: "assistant", content: [{ type: "hologram" }] }]],
    [
      "lost arguments",
      [{ role: "assistant", content: "", invalid_tool_calls: [{ name: "f", args: "{" }] }],
    ],
  ])("%s: %j", (why, between) => {
    const turns = turnsIn("openai", { messages: [...asked, ...between, message] });
    expect(turns.map(({ flaw }) => flaw)).toEqual([why]);
  });
});

it("does not take a turn in whose middle a response was cut off", async () => {
  const called = {
    role: "assistant",
    content: "Let me",
    tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: "{}" } }],
  };
  const result = { role: "tool", tool_call_id: "c", content: "ok" };
  const rows = (reason: string): object[] => [
    observation({ choices: [{ message: called, finish_reason: reason }] }),
    observation(
      { choices: [{ message, finish_reason: "stop" }] },
      { id: "h", input: [...asked, called, result] },
    ),
  ];
  expect((await collectAndCurate("langfuse", rows("length"))).report.dropped).toEqual({
    "cut off": 1,
  });
  expect((await collectAndCurate("langfuse", rows("tool_calls"))).report.dropped).toEqual({});
});

it.each([
  '{"role":"user","name":"x"}',
  '{"role":"admin","content":"x"}',
  '{"type":"text","size":3}',
  '{"type":"function","name":"f","parameters":{}}',
  '[{"type":"image","src":"x"}]',
  '{"content":["a","b"]}',
  '{"content":"a","title":"t"}',
  '{"reasoning":"r","content":"a"}',
  '{"message":"hi"}',
  '{"messages":["a","b"]}',
  '{"output":"x"}',
  '{"choices":[{"text":"red"},{"text":"blue"}]}',
  '{"candidates":[{"name":"red"}]}',
  '{"generations":[["a"]]}',
  '{"finish":"length","limit":1}',
  "{}",
  "[]",
  "[[]]",
])("an answer in JSON: %s", (text) => {
  const answer = { role: "assistant", content: text };
  expect(readResponse(text)).toEqual({ response: answer, damage: new Set(), reasons: [] });
  expect(readResponse(JSON.parse(text))).toEqual(readResponse(text));
});

it("keeps prompts in JSON as the user wrote them", () => {
  const of = (value: unknown): unknown =>
    readMessages(value).messages.map(({ content }) => content);
  expect(of('{"a": 1}')).toEqual(['{"a": 1}']);
  expect(of('["a", "b"]')).toEqual(['["a", "b"]']);
  expect(
    of([
      ["human", "hi"],
      ["ai", "hello"],
    ]),
  ).toEqual(["hi", "hello"]);
  expect(of('{"role":"user","name":"x"}')).toEqual(['{"role":"user","name":"x"}']);
  expect(of({ contents: [{ parts: [{ text: "q" }] }] })).toEqual(["q"]);
  expect(of({ system: "Be short.", messages: asked })).toEqual(["Be short.", "Tell me about hats"]);
  expect(
    of({
      contents: [{ role: "user", parts: [{ text: "q" }] }],
      systemInstruction: { parts: [{ text: "s" }] },
    }),
  ).toEqual(["s", "q"]);
});

it("keeps the digits and the order of keys of what it writes as text", async () => {
  const row =
    '{"id":"g","traceId":"t","type":"GENERATION","model":"m","input":"q","output":OUTPUT}';
  const of = async (output: string): Promise<unknown> => {
    const text = row.replace("OUTPUT", output);
    const { demonstrations } = await collectAndCurate("langfuse", `[${text}]`, { name: "r.json" });
    return demonstrations[0]?.["completion"];
  };
  const exact = '{"b":46.0,"10":1e-07,"9":12345678901234567890}';
  expect(await of(exact)).toMatchObject([{ content: exact }]);
  expect(await of("[1.0,2.50]")).toMatchObject([{ content: "[1.0,2.50]" }]);
  const call = `{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":${exact}}]}`;
  const result =
    '{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":{"n":1.0}}]}';
  const { messages } = readMessages(`[{"role":"user","content":"q"},${call},${result}]`);
  expect(messages.slice(1)).toMatchObject([
    { toolCalls: [{ arguments: exact }] },
    { content: '{"n":1.0}' },
  ]);
});

it("is not an attribute's limit where two texts happen to be as long as each other", () => {
  const of = (question: string, answer: string): unknown =>
    interpret({
      ...{ traceId: "a", spanId: "b", parentSpanId: null, name: "n", startMs: 0, endMs: 0 },
      ...{ events: [], error: null, resource: {}, dropped: 0 },
      attributes: {
        ...inference,
        "llm.input_messages.0.message.content": question,
        "llm.output_messages.0.message.content": answer,
      },
    }).model!.completeness;
  const unknown = { state: "unknown" };
  expect(of("How much?", "It is 46.")).toEqual(unknown);
  expect(of("a b".repeat(40), "c d".repeat(40))).toEqual({ state: "cut", why: "attribute limit" });
  expect(of(`${"a b".repeat(40)}?`, `${"c d".repeat(40)}.`)).toEqual(unknown);
  expect(of("a b".repeat(40), "a b".repeat(40))).toEqual(unknown);
  expect(of(`[${'"a b",'.repeat(40)}1]`, `[${'"c d",'.repeat(40)}1]`)).toEqual(unknown);
});
