/** Spans of OpenTelemetry's GenAI conventions, as OTLP's JSON has them, as drafts of episodes: one per trace. */
import { z } from "zod";
import type { ChatMessage, ToolCall } from "../../core/message.ts";
import { addTo } from "../../util/group-by.ts";
import type { DraftedCall, DraftedTrajectory } from "./drafted-episode.ts";

const attribute = z.looseObject({ key: z.string(), value: z.looseObject({}).optional() });

const span = z.looseObject({
  traceId: z.string(),
  spanId: z.string(),
  startTimeUnixNano: z.union([z.string(), z.number()]),
  endTimeUnixNano: z.union([z.string(), z.number()]).optional(),
  attributes: z.array(attribute).default([]),
});

const document = z.looseObject({
  resourceSpans: z.array(
    z.looseObject({ scopeSpans: z.array(z.looseObject({ spans: z.array(span) })) }),
  ),
});

type Attributes = ReadonlyMap<string, unknown>;

interface ReadSpan {
  readonly id: string;
  readonly endMs: number;
  readonly startMs: number;
  readonly attributes: Attributes;
}

function valueOf(given: Readonly<Record<string, unknown>>): unknown {
  if (given["stringValue"] !== undefined) return given["stringValue"];
  if (given["boolValue"] !== undefined) return given["boolValue"];
  const number = given["intValue"] ?? given["doubleValue"];
  if (number !== undefined) return Number(number);
  const list = given["arrayValue"] as { values?: Record<string, unknown>[] } | undefined;
  return list?.values?.map(valueOf);
}

const milliseconds = (nanoseconds: string | number): number => {
  const value = Number(nanoseconds) / 1e6;
  return Number.isFinite(value) ? value : 0;
};

const message = z.looseObject({
  role: z.enum(["system", "user", "assistant", "tool"]),
  /** As this package writes them. */
  content: z.unknown().optional(),
  reasoning: z.string().optional(),
  toolCalls: z
    .array(z.object({ id: z.string(), name: z.string(), arguments: z.string() }))
    .optional(),
  toolCallId: z.string().optional(),
  name: z.string().optional(),
  /** As the conventions have them. */
  parts: z.array(z.looseObject({ type: z.string() })).optional(),
});

const asText = (value: unknown): string =>
  typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value);

function messageOf({ parts, ...given }: z.output<typeof message>): ChatMessage {
  if (parts === undefined) return given as unknown as ChatMessage;
  const of = (type: string) => parts.filter((part) => part.type === type);
  const [result] = of("tool_call_response");
  const reasoning = of("reasoning").map((part) => asText(part["content"]));
  const toolCalls = of("tool_call").map((part, i): ToolCall => ({
    id: asText(part["id"]) || `call_${i}`,
    name: asText(part["name"]),
    arguments: asText(part["arguments"]),
  }));
  return {
    role: given.role,
    content:
      result === undefined
        ? of("text")
            .map((part) => asText(part["content"]))
            .join("\n")
        : asText(result["response"] ?? result["result"]),
    ...(result?.["id"] === undefined ? {} : { toolCallId: asText(result["id"]) }),
    ...(reasoning.length === 0 ? {} : { reasoning: reasoning.join("\n") }),
    ...(toolCalls.length === 0 ? {} : { toolCalls }),
  };
}

/** Messages are JSON as text, or absent where a program does not record what was said. */
function messagesOf(attributes: Attributes, name: string): ChatMessage[] {
  const text = attributes.get(name);
  if (typeof text !== "string") return [];
  return z.array(message).parse(JSON.parse(text)).map(messageOf);
}

const numberOf = (attributes: Attributes, name: string): number | null => {
  const value = attributes.get(name);
  return typeof value === "number" && Number.isFinite(value) ? value : null;
};

const textOf = (attributes: Attributes, name: string): string | null => {
  const value = attributes.get(name);
  return typeof value === "string" ? value : null;
};

function callOf({ id, attributes, endMs }: ReadSpan): DraftedCall {
  const reasons = attributes.get("gen_ai.response.finish_reasons");
  return {
    id: textOf(attributes, "agent_trainer.trace.id") ?? id,
    messages: messagesOf(attributes, "gen_ai.input.messages"),
    tools: [],
    response: messagesOf(attributes, "gen_ai.output.messages")[0] ?? {
      role: "assistant",
      content: "",
    },
    model: textOf(attributes, "gen_ai.request.model") ?? "",
    promptIds: [],
    responseIds: [],
    logprobs: [],
    usage: {
      promptTokens: numberOf(attributes, "gen_ai.usage.input_tokens") ?? 0,
      completionTokens: numberOf(attributes, "gen_ai.usage.output_tokens") ?? 0,
    },
    stopReason: Array.isArray(reasons) && reasons.includes("length") ? "length" : "stop",
    weightVersion: numberOf(attributes, "agent_trainer.weight_version"),
    reward: null,
    finishedAt: endMs,
  };
}

function trajectoryOf(traceId: string, spans: readonly ReadSpan[]): DraftedTrajectory {
  const operation = ({ attributes }: ReadSpan): unknown => attributes.get("gen_ai.operation.name");
  const agent = spans.find((one) => operation(one) === "invoke_agent")?.attributes ?? new Map();
  const calls = spans
    .filter((one) => operation(one) === "chat")
    .toSorted((a, b) => a.startMs - b.startMs)
    .map(callOf);
  const asked = calls[0]?.messages.find(({ role }) => role === "user")?.content;
  const episode = textOf(agent, "agent_trainer.episode.id") ?? traceId;
  return {
    episode,
    uid: traceId,
    name: textOf(agent, "gen_ai.agent.name") ?? "agent",
    task: {
      id: textOf(agent, "agent_trainer.task.id") ?? episode,
      instruction: typeof asked === "string" ? asked : "",
    },
    reward: numberOf(agent, "agent_trainer.reward"),
    isCorrect: null,
    calls,
  };
}

/** @throws z.ZodError; SyntaxError for messages that are not JSON. */
export function readOtel(value: unknown): DraftedTrajectory[] {
  const traces = new Map<string, ReadSpan[]>();
  for (const { scopeSpans } of document.parse(value).resourceSpans) {
    for (const { traceId, spanId, attributes, ...times } of scopeSpans.flatMap(
      ({ spans }) => spans,
    )) {
      const start = times.startTimeUnixNano;
      addTo(traces, traceId, {
        id: spanId,
        startMs: milliseconds(start),
        endMs: milliseconds(times.endTimeUnixNano ?? start),
        attributes: new Map(attributes.map((one) => [one.key, valueOf(one.value ?? {})])),
      });
    }
  }
  return [...traces].map(([traceId, spans]) => trajectoryOf(traceId, spans));
}
