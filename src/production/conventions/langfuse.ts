/** Langfuse's SDK from version 4 on, which records with OpenTelemetry: `langfuse.observation.type`. */
import { isJsonObject } from "../../util/json-object.ts";
import { defined } from "../../util/defined.ts";
import { parsed, readMessages, readResponse } from "../messages/read-messages.ts";
import { asText } from "../messages/read-parts.ts";
import { readTools } from "../messages/read-tools.ts";
import type { Attributes } from "../otlp/otlp-span.ts";
import type { ModelCall } from "../store/span.ts";
import { type Convention, numberOf, textOf } from "./recorded.ts";

const source = "langfuse";

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  const found = parsed(value);
  return isJsonObject(found) ? found : {};
}

function callOf(attributes: Attributes, isFailed: boolean): ModelCall {
  const of = (name: string): unknown => attributes[`langfuse.observation.${name}`];
  const [input, output] = [of("input"), of("output")];
  const usage = fieldsOf(of("usage_details"));
  return {
    model: textOf(of("model.name")) ?? "",
    messages: input === undefined ? [] : readMessages(parsed(input)),
    tools: readTools(fieldsOf(input)["tools"] ?? fieldsOf(of("model.parameters"))["tools"]),
    response: isFailed || output === undefined ? null : readResponse(parsed(output)),
    ...defined({
      promptTokens: numberOf(usage["input"]),
      completionTokens: numberOf(usage["output"]),
      responseId: textOf(fieldsOf(output)["id"]),
    }),
  };
}

export const langfuse: Convention = ({ attributes, name, error }) => {
  const type = textOf(attributes["langfuse.observation.type"])?.toLowerCase();
  if (type === undefined) return null;
  if (type === "generation")
    return { kind: "model", source, model: callOf(attributes, error !== null) };
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
