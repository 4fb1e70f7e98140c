/** Telemetry of the Vercel AI SDK (`experimental_telemetry`): spans with `ai.*` attributes. */
import type { ChatMessage } from "../../core/message.ts";
import { defined } from "../../util/defined.ts";
import type { Attributes } from "../otlp/otlp-span.ts";
import { parsed, readMessages } from "../messages/read-messages.ts";
import { asText } from "../messages/read-parts.ts";
import { readTools } from "../messages/read-tools.ts";
import type { ModelCall } from "../store/span.ts";
import { type Convention, numberOf, stopReasonOf, textOf } from "./recorded.ts";

function responseOf(attributes: Attributes): ChatMessage | null {
  const text = textOf(attributes["ai.response.text"]) ?? textOf(attributes["ai.response.object"]);
  const reasoning = attributes["ai.response.reasoning"];
  const calls = parsed(attributes["ai.response.toolCalls"]);
  if (text === undefined && calls === undefined) return null;
  const [message] = readMessages([
    { role: "assistant", content: text ?? "", reasoning, tool_calls: calls },
  ]);
  return message ?? null;
}

function callOf(attributes: Attributes): ModelCall {
  return {
    model: textOf(attributes["ai.response.model"]) ?? textOf(attributes["ai.model.id"]) ?? "",
    messages: readMessages(attributes["ai.prompt.messages"]),
    tools: readTools(attributes["ai.prompt.tools"]),
    response: responseOf(attributes),
    ...defined({
      stopReason: stopReasonOf(attributes["ai.response.finishReason"]),
      promptTokens: numberOf(
        attributes["ai.usage.inputTokens"] ?? attributes["ai.usage.promptTokens"],
      ),
      completionTokens: numberOf(
        attributes["ai.usage.outputTokens"] ?? attributes["ai.usage.completionTokens"],
      ),
      responseId: textOf(attributes["ai.response.id"]),
    }),
  };
}

const callName =
  /^ai\.(?:generateText\.doGenerate|streamText\.doStream|generateObject\.doGenerate|streamObject\.doStream)$/u;
const agentName = /^ai\.(?:generateText|streamText|generateObject|streamObject)$/u;

export const aiSdk: Convention = ({ attributes }) => {
  const operation = textOf(attributes["ai.operationId"]);
  if (operation === undefined) return null;
  const source = "ai-sdk";
  if (callName.test(operation)) return { kind: "model", source, model: callOf(attributes) };
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
