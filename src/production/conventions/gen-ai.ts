/**
 * OpenTelemetry's GenAI conventions: the current ones (`gen_ai.input.messages`, as an attribute or an event), those
 * with an event per message (1.28 to 1.36), those with `gen_ai.prompt` in an event (1.27), and the
 * indexed attributes of OpenLLMetry (`gen_ai.prompt.0.role`).
 * https://opentelemetry.io/docs/specs/semconv/gen-ai/
 */
import type { Damage } from "../../core/completeness.ts";
import { isJsonObject } from "../../util/json-object.ts";
import { defined } from "../../util/defined.ts";
import { textOf } from "../messages/fields.ts";
import { modelCall } from "../messages/model-call.ts";
import type { Attributes, OtlpSpan } from "../otlp/otlp-span.ts";
import { opened, type ReadMessages, readMessages } from "../messages/read-messages.ts";
import { type ReadResponse, readResponse } from "../messages/read-response.ts";
import { asText } from "../messages/read-parts.ts";
import type { ModelCall, ToolRun } from "../store/span.ts";
import { type Convention, endingsOf } from "./recorded.ts";
import { unflatten } from "./unflatten.ts";

interface Said {
  readonly messages: ReadMessages;
  readonly response: ReadResponse | null;
}

/** Attributes of the span and of the event that has them where a span should stay small. */
function current(all: Attributes): Said | null {
  const input = all["gen_ai.input.messages"];
  const output = all["gen_ai.output.messages"];
  if (input === undefined && output === undefined) return null;
  const lost = new Set<Damage>();
  const system = opened(all["gen_ai.system_instructions"], lost);
  const first = system === undefined ? [] : [{ role: "system", content: system }];
  const { messages, damage } = readMessages(first, input);
  return {
    messages: { messages, damage: new Set([...lost, ...damage]) },
    response: readResponse(output),
  };
}

const messageEvent = /^gen_ai\.(system|user|assistant|tool)\.message$/u;

/** An event for each message, and one for each choice; their bodies are in attributes. */
function byEvents({ events }: OtlpSpan): Said | null {
  const messages: unknown[] = [];
  const choices: unknown[] = [];
  const lost = new Set<Damage>();
  for (const { name, attributes } of events) {
    const role = messageEvent.exec(name)?.[1];
    if (role === undefined && name !== "gen_ai.choice") continue;
    const body = opened(attributes["gen_ai.event.content"], lost);
    const given = isJsonObject(body) ? body : attributes;
    const calls = opened(given["tool_calls"], lost);
    const own = { ...given, ...defined({ tool_calls: calls }) };
    if (role !== undefined) messages.push({ ...own, role });
    else {
      const said = opened(given["message"], lost) ?? own;
      choices.push({
        message: isJsonObject(said) ? { ...said, role: "assistant" } : undefined,
        text: said,
      });
    }
  }
  if (messages.length === 0 && choices.length === 0) return null;
  const { damage, ...read } = readMessages(messages);
  const all = new Set([...damage, ...lost]);
  return { messages: { ...read, damage: all }, response: readResponse({ choices }) };
}

/** `gen_ai.content.prompt` and `gen_ai.content.completion`. */
function byContentEvents({ events }: OtlpSpan): Said | null {
  const of = (name: string, attribute: string): unknown =>
    events.find((event) => event.name === name)?.attributes[attribute];
  const prompt = of("gen_ai.content.prompt", "gen_ai.prompt");
  const completion = of("gen_ai.content.completion", "gen_ai.completion");
  if (prompt === undefined && completion === undefined) return null;
  return { messages: readMessages(prompt), response: readResponse(completion) };
}

function byIndex({ attributes }: OtlpSpan): Said | null {
  const [prompt, completion] = ["gen_ai.prompt.", "gen_ai.completion."].map((prefix) =>
    unflatten(attributes, prefix),
  );
  if (!Array.isArray(prompt) && !Array.isArray(completion)) return null;
  return { messages: readMessages(prompt), response: readResponse(completion) };
}

const nothing: Said = { messages: readMessages(), response: null };

function callOf(span: OtlpSpan, all: Attributes): ModelCall {
  const said = current(all) ?? byEvents(span) ?? byContentEvents(span) ?? byIndex(span) ?? nothing;
  return modelCall({
    ...said,
    model: textOf(all["gen_ai.response.model"]) ?? all["gen_ai.request.model"],
    tools:
      all["gen_ai.tool.definitions"] ??
      unflatten(all, "llm.request.functions.") ??
      all["gen_ai.request.tools"],
    ended: endingsOf(span),
    maxTokens: all["gen_ai.request.max_tokens"],
    promptTokens: all["gen_ai.usage.input_tokens"] ?? all["gen_ai.usage.prompt_tokens"],
    completionTokens: all["gen_ai.usage.output_tokens"] ?? all["gen_ai.usage.completion_tokens"],
    responseId: all["gen_ai.response.id"],
    weightVersion: all["agent_trainer.weight_version"],
  });
}

function toolOf({ name }: OtlpSpan, all: Attributes): ToolRun {
  const args = all["gen_ai.tool.call.arguments"] ?? all["traceloop.entity.input"];
  const result = all["gen_ai.tool.call.result"] ?? all["traceloop.entity.output"];
  return {
    name: textOf(all["gen_ai.tool.name"]) ?? textOf(all["traceloop.entity.name"]) ?? name,
    ...defined({
      callId: textOf(all["gen_ai.tool.call.id"]),
      arguments: args === undefined ? undefined : asText(args),
      result: result === undefined ? undefined : asText(result),
    }),
  };
}

const modelOperations = new Set<unknown>(["chat", "text_completion", "generate_content"]);
const agentOperations = new Set<unknown>(["invoke_agent", "create_agent", "invoke_workflow"]);
const traceloopKinds = new Set<unknown>(["agent", "workflow"]);

export const genAi: Convention = (span) => {
  const { attributes } = span;
  const details = span.events.find(
    (one) => one.name === "gen_ai.client.inference.operation.details",
  );
  const all = details === undefined ? attributes : { ...attributes, ...details.attributes };
  const operation = all["gen_ai.operation.name"] ?? all["llm.request.type"];
  const traceloop = all["traceloop.span.kind"];
  const source =
    traceloop === undefined && all["llm.request.type"] === undefined ? "otel" : "openllmetry";
  if (operation === "execute_tool" || traceloop === "tool")
    return { kind: "tool", source, tool: toolOf(span, all) };
  if (agentOperations.has(operation) || traceloopKinds.has(traceloop)) {
    const name =
      textOf(all["gen_ai.agent.name"]) ?? textOf(all["traceloop.entity.name"]) ?? span.name;
    return { kind: "agent", source, name };
  }
  const isCall =
    modelOperations.has(operation) ||
    operation === "completion" ||
    (operation === undefined && all["gen_ai.request.model"] !== undefined);
  if (isCall) return { kind: "model", source, model: callOf(span, all) };
  return operation === undefined && traceloop === undefined ? null : { kind: "other", source };
};
