/** Langfuse's SDK from version 4 on, which records with OpenTelemetry: `langfuse.observation.type`. */
import { isJsonObject } from "../../util/json-object.ts";
import { defined } from "../../util/defined.ts";
import { textOf } from "../messages/fields.ts";
import { maxTokensIn, modelCall, tokensIn } from "../messages/model-call.ts";
import { parsed, readMessages } from "../messages/read-messages.ts";
import { readResponse } from "../messages/read-response.ts";
import { asText } from "../messages/read-parts.ts";
import type { OtlpSpan } from "../otlp/otlp-span.ts";
import type { ModelCall } from "../store/span.ts";
import { type Convention, endingsOf } from "./recorded.ts";

const source = "langfuse";

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  const found = parsed(value);
  return isJsonObject(found) ? found : {};
}

function callOf(span: OtlpSpan): ModelCall {
  const of = (name: string): unknown => span.attributes[`langfuse.observation.${name}`];
  const [input, output] = [fieldsOf(of("input")), fieldsOf(of("output"))];
  const [usage, parameters] = [fieldsOf(of("usage_details")), fieldsOf(of("model.parameters"))];
  return modelCall({
    model: of("model.name"),
    messages: readMessages(of("input")),
    response: span.error === null ? readResponse(of("output")) : null,
    tools: input["tools"] ?? input["toolConfig"] ?? parameters["tools"],
    ended: endingsOf(span),
    maxTokens: maxTokensIn(parameters, input),
    ...tokensIn(usage),
    responseId: output["id"],
  });
}

export const langfuse: Convention = (span) => {
  const { attributes, name } = span;
  const type = textOf(attributes["langfuse.observation.type"])?.toLowerCase();
  if (type === undefined) return null;
  if (type === "generation") return { kind: "model", source, model: callOf(span) };
  if (type === "agent") return { kind: "agent", source };
  if (type !== "tool") return { kind: "other", source };
  const [given, result] = ["input", "output"].map(
    (field) => attributes[`langfuse.observation.${field}`],
  );
  const texts = defined({
    arguments: given === undefined ? undefined : asText(given),
    result: result === undefined ? undefined : asText(result),
  });
  return { kind: "tool", source, tool: { name, ...texts } };
};
