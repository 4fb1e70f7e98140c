/** OpenInference, as Arize's Phoenix and its instrumentations record: `openinference.span.kind`. */
import { defined } from "../../util/defined.ts";
import type { Attributes } from "../otlp/otlp-span.ts";
import { parsed, readMessages, readResponse } from "../messages/read-messages.ts";
import { asText } from "../messages/read-parts.ts";
import { readTools } from "../messages/read-tools.ts";
import type { ModelCall } from "../store/span.ts";
import { isJsonObject } from "../../util/json-object.ts";
import { type Convention, numberOf, stopReasonOf, textOf } from "./recorded.ts";
import { unflatten } from "./unflatten.ts";

function callOf(attributes: Attributes): ModelCall {
  const output = unflatten(attributes, "llm.output_messages.");
  const body = parsed(attributes["output.value"]);
  return {
    model: textOf(attributes["llm.model_name"]) ?? "",
    messages: readMessages(unflatten(attributes, "llm.input_messages.")),
    tools: readTools(unflatten(attributes, "llm.tools.")),
    response: Array.isArray(output) ? readResponse(output) : null,
    ...defined({
      stopReason: stopReasonOf(attributes["llm.finish_reason"]),
      promptTokens: numberOf(attributes["llm.token_count.prompt"]),
      completionTokens: numberOf(attributes["llm.token_count.completion"]),
      // Only the body of the response has its id.
      responseId: isJsonObject(body) ? textOf(body["id"]) : undefined,
    }),
  };
}

export const openInference: Convention = ({ attributes, name }) => {
  const kind = textOf(attributes["openinference.span.kind"])?.toUpperCase();
  if (kind === undefined) return null;
  const source = "openinference";
  if (kind === "LLM") return { kind: "model", source, model: callOf(attributes) };
  if (kind === "AGENT")
    return { kind: "agent", source, name: textOf(attributes["agent.name"]) ?? name };
  if (kind !== "TOOL") return { kind: "other", source };
  const given = attributes["tool.parameters"] ?? attributes["input.value"];
  const result = attributes["output.value"];
  const tool = {
    name: textOf(attributes["tool.name"]) ?? name,
    ...defined({
      callId: textOf(attributes["tool_call.id"] ?? attributes["tool.id"]),
      arguments: given === undefined ? undefined : asText(given),
      result: result === undefined ? undefined : asText(result),
    }),
  };
  return { kind: "tool", source, tool };
};
