/** Telemetry of the Vercel AI SDK (`experimental_telemetry`): spans with `ai.*` attributes. */
import type { Damage } from "../../core/completeness.ts";
import { defined } from "../../util/defined.ts";
import type { Attributes, OtlpSpan } from "../otlp/otlp-span.ts";
import { textOf } from "../messages/fields.ts";
import { modelCall } from "../messages/model-call.ts";
import { opened, parsed, readMessages } from "../messages/read-messages.ts";
import type { ReadResponse } from "../messages/read-response.ts";
import { asText } from "../messages/read-parts.ts";
import type { ModelCall } from "../store/span.ts";
import { type Convention, endingsOf } from "./recorded.ts";

function responseOf(attributes: Attributes): ReadResponse | null {
  const text = textOf(attributes["ai.response.text"]) ?? textOf(attributes["ai.response.object"]);
  const lost = new Set<Damage>();
  const calls = opened(attributes["ai.response.toolCalls"], lost);
  if (text === undefined && calls === undefined) return null;
  const reasoning = attributes["ai.response.reasoning"];
  const { messages, damage } = readMessages([
    { role: "assistant", content: text ?? "", reasoning, tool_calls: calls },
  ]);
  return { response: messages[0] ?? null, damage: new Set([...lost, ...damage]), reasons: [] };
}

function callOf(span: OtlpSpan): ModelCall {
  const { attributes } = span;
  return modelCall({
    model: attributes["ai.response.model"] ?? attributes["ai.model.id"],
    messages: readMessages(attributes["ai.prompt.messages"]),
    response: responseOf(attributes),
    tools: attributes["ai.prompt.tools"],
    ended: endingsOf(span),
    maxTokens:
      attributes["ai.settings.maxOutputTokens"] ??
      attributes["ai.settings.maxTokens"] ??
      attributes["gen_ai.request.max_tokens"],
    promptTokens: attributes["ai.usage.inputTokens"] ?? attributes["ai.usage.promptTokens"],
    completionTokens:
      attributes["ai.usage.outputTokens"] ?? attributes["ai.usage.completionTokens"],
    responseId: attributes["ai.response.id"],
  });
}
const callName =
  /^ai\.(?:generateText\.doGenerate|streamText\.doStream|generateObject\.doGenerate|streamObject\.doStream)$/u;
const agentName = /^ai\.(?:generateText|streamText|generateObject|streamObject)$/u;

export const aiSdk: Convention = (span) => {
  const { attributes } = span;
  const operation = textOf(attributes["ai.operationId"]);
  if (operation === undefined) return null;
  const source = "ai-sdk";
  if (callName.test(operation)) return { kind: "model", source, model: callOf(span) };
  if (operation === "ai.toolCall") {
    const { "ai.toolCall.args": args, "ai.toolCall.result": result } = attributes;
    const tool = {
      name: textOf(attributes["ai.toolCall.name"]) ?? "",
      ...defined({
        callId: textOf(attributes["ai.toolCall.id"]),
        arguments: args === undefined ? undefined : asText(args),
        result: result === undefined ? undefined : asText(parsed(result)),
      }),
    };
    return { kind: "tool", source, tool };
  }
  if (!agentName.test(operation)) return { kind: "other", source };
  return {
    kind: "agent",
    source,
    ...defined({ name: textOf(attributes["ai.telemetry.functionId"]) }),
  };
};
