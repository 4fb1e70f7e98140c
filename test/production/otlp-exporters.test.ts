/** The official exporters of OpenTelemetry's JavaScript SDK, and the AI SDK's telemetry through them. */
import { type Attributes, context, SpanStatusCode, trace } from "@opentelemetry/api";
import { OTLPTraceExporter as JsonExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { OTLPTraceExporter as ProtoExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { generateText, jsonSchema, stepCountIs, tool } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rebuildTurns } from "../../src/production/curate/turns.ts";
import { asyncContextManager } from "./async-context.ts";
import { startReceiver } from "./collected.ts";

beforeAll(() => void context.setGlobalContextManager(asyncContextManager()));
afterAll(() => context.disable());

const exporters = { "http/json": JsonExporter, "http/protobuf": ProtoExporter };
const ways = Object.entries(exporters).flatMap(([name, Exporter]) =>
  ["none", "gzip"].map((compression) => [name, compression, Exporter] as const),
);

function providerFor(
  Exporter: (typeof ways)[number][2],
  url: string,
  options: object = {},
): TracerProvider {
  const exporter = new Exporter({ url: `${url}/v1/traces`, ...options });
  return new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
}

/** The SDK takes small numbers as times since the process began. */
const at = 1_700_000_000_000;

const said: Attributes = {
  "gen_ai.operation.name": "chat",
  "gen_ai.request.model": "m",
  "gen_ai.response.id": "r1",
  "gen_ai.usage.input_tokens": 12,
  "gen_ai.response.finish_reasons": ["stop"],
  "gen_ai.conversation.id": "c1",
  "user.id": "u1",
  "gen_ai.input.messages": JSON.stringify([
    { role: "user", parts: [{ type: "text", content: "Grüße 👋" }] },
  ]),
  "gen_ai.output.messages": JSON.stringify([
    { role: "assistant", parts: [{ type: "text", content: "Hallo!" }], finish_reason: "stop" },
  ]),
};

describe.each(ways)("%s with compression %s", (_, compression, Exporter) => {
  it("brings spans as the SDK exports them", async () => {
    await using receiver = await startReceiver();
    const provider = providerFor(Exporter, receiver.url, { compression });
    const tracer = provider.getTracer("test");
    const parent = tracer.startSpan("request", { startTime: at + 1000 });
    const inside = trace.setSpan(context.active(), parent);
    const call = tracer.startSpan("chat m", { startTime: at + 1001.5, attributes: said }, inside);
    call.setStatus({ code: SpanStatusCode.OK });
    call.end(at + 1002);
    parent.setStatus({ code: SpanStatusCode.ERROR, message: "it broke" });
    parent.end(at + 1003);
    await provider.forceFlush();
    const spans = receiver.spans().toSorted((a, b) => a.startMs - b.startMs);
    const { traceId, spanId } = parent.spanContext();
    expect(spans).toMatchObject([
      { traceId, id: spanId, parentId: null, kind: "other", startMs: at + 1000, error: "it broke" },
      {
        traceId,
        id: call.spanContext().spanId,
        parentId: spanId,
        kind: "model",
        startMs: at + 1001.5,
        endMs: at + 1002,
        conversationId: "c1",
        user: "u1",
        source: "otel",
        model: {
          model: "m",
          messages: [{ role: "user", content: "Grüße 👋" }],
          response: { role: "assistant", content: "Hallo!" },
          promptTokens: 12,
          completeness: { state: "complete" },
          responseId: "r1",
        },
      },
    ]);
    expect(spans[1]).not.toHaveProperty("error");
    await provider.shutdown();
  });
});

/** A model that calls a tool twice at once, then answers. */
function toolModel() {
  const usage = {
    inputTokens: { total: 3, noCache: 3, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 4, text: 4, reasoning: 0 },
  };
  const answers = [
    {
      content: ["oslo", "rome"].map((city, i) => ({
        type: "tool-call" as const,
        toolCallId: `id${i}`,
        toolName: "weather",
        input: JSON.stringify({ city }),
      })),
      finishReason: { unified: "tool-calls" as const, raw: "tool_calls" },
    },
    {
      content: [{ type: "text" as const, text: "Cold and warm." }],
      finishReason: { unified: "stop" as const, raw: "stop" },
    },
  ];
  let turn = 0;
  return new MockLanguageModelV3({
    doGenerate: async () => ({ ...answers[turn++]!, usage, warnings: [] }),
  });
}

it.each(Object.entries(exporters))("the AI SDK's telemetry over %s", async (_, Exporter) => {
  await using receiver = await startReceiver();
  const provider = providerFor(Exporter, receiver.url);
  await generateText({
    model: toolModel(),
    system: "You know the weather.",
    prompt: "Oslo and Rome?",
    tools: {
      weather: tool({
        description: "Weather of a city",
        inputSchema: jsonSchema<{ city: string }>({
          type: "object",
          properties: { city: { type: "string" } },
        }),
        execute: async ({ city }) => ({ celsius: city === "oslo" ? 1 : 20 }),
      }),
    },
    stopWhen: stepCountIs(3),
    experimental_telemetry: {
      isEnabled: true,
      functionId: "weather-agent",
      metadata: { userId: "u7", sessionId: "s7" },
      tracer: provider.getTracer("ai"),
    },
  });
  await provider.forceFlush();
  await provider.shutdown();
  const spans = receiver.spans();
  expect(spans.map(({ kind }) => kind).toSorted()).toEqual([
    "agent",
    "model",
    "model",
    "tool",
    "tool",
  ]);
  expect(spans.find(({ kind }) => kind === "agent")).toMatchObject({
    name: "weather-agent",
    parentId: null,
  });
  expect(spans.filter(({ kind }) => kind === "tool").map((one) => one.tool)).toEqual([
    { name: "weather", callId: "id0", arguments: '{"city":"oslo"}', result: '{"celsius":1}' },
    { name: "weather", callId: "id1", arguments: '{"city":"rome"}', result: '{"celsius":20}' },
  ]);
  const { turns, failed, withoutText } = rebuildTurns(spans);
  expect([turns.length, failed, withoutText]).toEqual([1, 0, 0]);
  expect(turns[0]).toMatchObject({
    user: "u7",
    conversationId: "s7",
    isSubAgent: false,
    flaw: null,
    prompt: [
      { role: "system", content: "You know the weather." },
      { role: "user", content: "Oslo and Rome?" },
    ],
    completion: [
      {
        role: "assistant",
        content: "",
        toolCalls: [
          { id: "id0", name: "weather", arguments: '{"city":"oslo"}' },
          { id: "id1", name: "weather", arguments: '{"city":"rome"}' },
        ],
      },
      { role: "tool", toolCallId: "id0", name: "weather", content: '{"celsius":1}' },
      { role: "tool", toolCallId: "id1", name: "weather", content: '{"celsius":20}' },
      { role: "assistant", content: "Cold and warm." },
    ],
    tools: [{ name: "weather", description: "Weather of a city" }],
  });
});
