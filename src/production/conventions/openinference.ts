/** OpenInference, as Arize's Phoenix and its instrumentations record: `openinference.span.kind`. */
import { defined } from "../../util/defined.ts";
import { isJsonObject } from "../../util/json-object.ts";
import { textOf } from "../messages/fields.ts";
import { maxTokensIn, modelCall } from "../messages/model-call.ts";
import type { OtlpSpan } from "../otlp/otlp-span.ts";
import { parsed, readMessages } from "../messages/read-messages.ts";
import { readResponse } from "../messages/read-response.ts";
import { asText } from "../messages/read-parts.ts";
import type { ModelCall } from "../store/span.ts";
import { type Convention, endingsOf } from "./recorded.ts";
import { unflatten } from "./unflatten.ts";

function callOf(span: OtlpSpan): ModelCall {
  const { attributes } = span;
  const output = unflatten(attributes, "llm.output_messages.");
  // Only the body of the response has its id, and in most versions how it ended.
  const [body, given] = [attributes["output.value"], attributes["llm.invocation_parameters"]].map(
    (value) => parsed(value),
  );
  return modelCall({
    model: attributes["llm.model_name"],
    messages: readMessages(unflatten(attributes, "llm.input_messages.")),
    response: Array.isArray(output) ? readResponse(output) : null,
    tools: unflatten(attributes, "llm.tools."),
    ended: [...endingsOf(span), ...readResponse(body, "body").reasons],
    maxTokens: isJsonObject(given) ? maxTokensIn(given) : undefined,
    promptTokens: attributes["llm.token_count.prompt"],
    completionTokens: attributes["llm.token_count.completion"],
    responseId: isJsonObject(body) ? body["id"] : undefined,
  });
}

export const openInference: Convention = (span) => {
  const { attributes, name } = span;
  const kind = textOf(attributes["openinference.span.kind"])?.toUpperCase();
  if (kind === undefined) return null;
  const source = "openinference";
  if (kind === "LLM") return { kind: "model", source, model: callOf(span) };
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
