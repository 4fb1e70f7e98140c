/**
 * Spans of each convention with one conversation. The attributes are those of the published pages: OpenTelemetry's
 * GenAI conventions (1.37 and later, events of 1.28 to 1.36, 1.27), OpenLLMetry, and OpenInference.
 */
import { describe, expect, it } from "vitest";
import { interpret } from "../../src/production/conventions/interpret.ts";
import type { OtlpEvent, OtlpSpan } from "../../src/production/otlp/otlp-span.ts";

const spanOf = (
  attributes: Record<string, unknown>,
  events: readonly Omit<OtlpEvent, "dropped">[] = [],
): OtlpSpan => ({
  traceId: "a".repeat(32),
  spanId: "b".repeat(16),
  parentSpanId: null,
  name: "chat gpt",
  startMs: 1,
  endMs: 2,
  attributes,
  events: events.map((event) => ({ ...event, dropped: 0 })),
  error: null,
  resource: {},
  dropped: 0,
});
const json = JSON.stringify;
const basics = { "gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt" };

const expected = {
  messages: [
    { role: "system", content: "Be short." },
    { role: "user", content: "Oslo?" },
    {
      role: "assistant",
      content: "",
      toolCalls: [{ id: "c1", name: "weather", arguments: '{"city":"Oslo"}' }],
    },
    { role: "tool", content: "1 degree", toolCallId: "c1" },
  ],
  response: { role: "assistant", content: "Cold." },
};

const openAiCall = [
  { id: "c1", type: "function", function: { name: "weather", arguments: '{"city":"Oslo"}' } },
];

const current = [
  { role: "user", parts: [{ type: "text", content: "Oslo?" }] },
  {
    role: "assistant",
    parts: [{ type: "tool_call", id: "c1", name: "weather", arguments: { city: "Oslo" } }],
  },
  { role: "tool", parts: [{ type: "tool_call_response", id: "c1", response: "1 degree" }] },
];
const currentOutput = [
  { role: "assistant", parts: [{ type: "text", content: "Cold." }], finish_reason: "stop" },
];
const instructions = [{ type: "text", content: "Be short." }];

const cases: Record<string, OtlpSpan> = {
  "GenAI 1.37": spanOf({
    ...basics,
    "gen_ai.system_instructions": json(instructions),
    "gen_ai.input.messages": json(current),
    "gen_ai.output.messages": json(currentOutput),
  }),
  "GenAI 1.37, structured, in an event": spanOf(basics, [
    {
      name: "gen_ai.client.inference.operation.details",
      attributes: {
        "gen_ai.system_instructions": instructions,
        "gen_ai.input.messages": current,
        "gen_ai.output.messages": currentOutput,
      },
    },
  ]),
  "GenAI 1.28, an event per message": spanOf(basics, [
    { name: "gen_ai.system.message", attributes: { content: "Be short." } },
    { name: "gen_ai.user.message", attributes: { content: "Oslo?" } },
    { name: "gen_ai.assistant.message", attributes: { tool_calls: json(openAiCall) } },
    { name: "gen_ai.tool.message", attributes: { content: "1 degree", id: "c1" } },
    {
      name: "gen_ai.choice",
      attributes: { index: 0, finish_reason: "stop", message: json({ content: "Cold." }) },
    },
  ]),
  "GenAI 1.27, the prompt in an event": spanOf(basics, [
    {
      name: "gen_ai.content.prompt",
      attributes: {
        "gen_ai.prompt": json([
          { role: "system", content: "Be short." },
          { role: "user", content: "Oslo?" },
          { role: "assistant", content: null, tool_calls: openAiCall },
          { role: "tool", tool_call_id: "c1", content: "1 degree" },
        ]),
      },
    },
    {
      name: "gen_ai.content.completion",
      attributes: { "gen_ai.completion": json([{ role: "assistant", content: "Cold." }]) },
    },
  ]),
  OpenLLMetry: spanOf({
    "llm.request.type": "chat",
    "gen_ai.request.model": "gpt",
    "gen_ai.prompt.0.role": "system",
    "gen_ai.prompt.0.content": "Be short.",
    "gen_ai.prompt.1.role": "user",
    "gen_ai.prompt.1.content": "Oslo?",
    "gen_ai.prompt.2.role": "assistant",
    "gen_ai.prompt.2.tool_calls.0.id": "c1",
    "gen_ai.prompt.2.tool_calls.0.name": "weather",
    "gen_ai.prompt.2.tool_calls.0.arguments": '{"city":"Oslo"}',
    "gen_ai.prompt.3.role": "tool",
    "gen_ai.prompt.3.tool_call_id": "c1",
    "gen_ai.prompt.3.content": "1 degree",
    "gen_ai.completion.0.role": "assistant",
    "gen_ai.completion.0.content": "Cold.",
    "gen_ai.completion.0.finish_reason": "stop",
  }),
  OpenInference: spanOf({
    "openinference.span.kind": "LLM",
    "llm.model_name": "gpt",
    "llm.input_messages.0.message.role": "system",
    "llm.input_messages.0.message.content": "Be short.",
    "llm.input_messages.1.message.role": "user",
    "llm.input_messages.1.message.contents.0.message_content.type": "text",
    "llm.input_messages.1.message.contents.0.message_content.text": "Oslo?",
    "llm.input_messages.2.message.role": "assistant",
    "llm.input_messages.2.message.tool_calls.0.tool_call.id": "c1",
    "llm.input_messages.2.message.tool_calls.0.tool_call.function.name": "weather",
    "llm.input_messages.2.message.tool_calls.0.tool_call.function.arguments": '{"city":"Oslo"}',
    "llm.input_messages.3.message.role": "tool",
    "llm.input_messages.3.message.tool_call_id": "c1",
    "llm.input_messages.3.message.content": "1 degree",
    "llm.output_messages.0.message.role": "assistant",
    "llm.output_messages.0.message.content": "Cold.",
  }),
};

describe("a call of a model", () => {
  it.each(Object.entries(cases))("%s", (_, span) => {
    const { kind, model } = interpret(span);
    expect(kind).toBe("model");
    expect(model).toMatchObject({ model: "gpt", ...expected });
  });

  it.each([
    [
      "Anthropic",
      [
        {
          role: "user",
          content: [
            {
              type: "tool_result",
              tool_use_id: "c1",
              content: [{ type: "text", text: "1 degree" }],
            },
          ],
        },
      ],
    ],
    [
      "Google",
      [
        {
          role: "user",
          parts: [{ functionResponse: { id: "c1", name: "weather", response: "1 degree" } }],
        },
      ],
    ],
    ["OpenAI's Responses", [{ type: "function_call_output", call_id: "c1", output: "1 degree" }]],
  ])("with a result of a tool as %s has it", (_, messages) => {
    const { model } = interpret(spanOf({ ...basics, "gen_ai.input.messages": json(messages) }));
    expect(model!.messages).toMatchObject([
      { role: "tool", toolCallId: "c1", content: "1 degree" },
    ]);
  });
});

describe("other spans", () => {
  it.each<readonly [Record<string, unknown>, object]>([
    [
      {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "weather",
        "gen_ai.tool.call.id": "c1",
        "gen_ai.tool.call.arguments": '{"city":"Oslo"}',
        "gen_ai.tool.call.result": '"1 degree"',
      },
      {
        kind: "tool",
        tool: { name: "weather", callId: "c1", arguments: '{"city":"Oslo"}', result: '"1 degree"' },
      },
    ],
    [
      {
        "openinference.span.kind": "TOOL",
        "tool.name": "weather",
        "input.value": '{"city":"Oslo"}',
        "output.value": "1 degree",
      },
      { kind: "tool", tool: { name: "weather", arguments: '{"city":"Oslo"}', result: "1 degree" } },
    ],
    [
      {
        "traceloop.span.kind": "tool",
        "traceloop.entity.name": "weather",
        "traceloop.entity.input": "{}",
      },
      { kind: "tool", tool: { name: "weather", arguments: "{}" }, source: "openllmetry" },
    ],
    [
      { "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "helper" },
      { kind: "agent", name: "helper" },
    ],
    [{ "openinference.span.kind": "AGENT" }, { kind: "agent", source: "openinference" }],
    [{ "http.request.method": "GET" }, { kind: "other", source: "otel" }],
    [{ "gen_ai.operation.name": "embeddings", "gen_ai.request.model": "e" }, { kind: "other" }],
  ])("%j", (attributes, expectedSpan) => {
    expect(interpret(spanOf(attributes))).toMatchObject(expectedSpan);
  });

  it("names who asked, by the attributes of each convention", () => {
    const of = (attributes: Record<string, unknown>) => interpret(spanOf(attributes));
    expect(of({ "gen_ai.conversation.id": "c", "enduser.id": "u" })).toMatchObject({
      conversationId: "c",
      user: "u",
    });
    expect(of({ "session.id": "c", "user.id": "u" })).toMatchObject({
      conversationId: "c",
      user: "u",
    });
    expect(
      of({ "ai.telemetry.metadata.sessionId": "c", "ai.telemetry.metadata.userId": "u" }),
    ).toMatchObject({ conversationId: "c", user: "u" });
  });
});
