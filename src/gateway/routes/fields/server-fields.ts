/**
 * Fields about the form of a response, from each protocol, as OpenAI's chat requests name them. Servers that
 * render messages get them; where the gateway renders it reads them.
 */
import type { JsonObject, JsonValue } from "../../../core/message.ts";
import type { JsonFields } from "../../../util/json-object.ts";
import { writeJson } from "../../../util/raw-json.ts";
import type { CallRequest, ToolChoice } from "../../call/call-request.ts";
import { readNumber, readObject } from "../../http/json-fields.ts";
import { exactly, readSources } from "../../http/json-source.ts";
import type { TargetAbilities } from "../../targets/target.ts";
import { isEmpty, unsupported } from "./refusals.ts";
import { isThinkingVariable } from "./thinking.ts";
import { wireChoice } from "./tool-choice.ts";

/** Templates that the gateway renders take no other variables than that of thinking. */
function readVariables(body: JsonFields, isRendered: boolean): JsonObject | undefined {
  const at = "chat_template_kwargs";
  const variables = readObject(body, at);
  if (variables === undefined || isEmpty(variables)) return undefined;
  const unknown = Object.entries(variables).find((entry) => !isThinkingVariable(entry));
  if (isRendered && unknown !== undefined) {
    throw unsupported(
      at,
      variables,
      'Use {"enable_thinking": true} or false: other variables are only for servers that render messages themselves.',
    );
  }
  return variables as JsonObject;
}

/** Where protocols have what becomes a server's field. */
const fieldNames = [
  "chat_template_kwargs",
  "output_config",
  "output_format",
  "response_format",
  "text",
];

/** `fields` as they are put together from those of the body. */
export function serverFieldsOf(
  body: JsonFields,
  fields: Readonly<Record<string, JsonValue | undefined>>,
): Pick<CallRequest, "serverFields" | "serverFieldsText"> {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  if (given.length === 0) return {};
  readSources(body, ...fieldNames);
  const serverFields = Object.fromEntries(given) as JsonObject;
  const text = writeJson(exactly(serverFields) as object);
  const isLost = text !== JSON.stringify(serverFields);
  return { serverFields, ...(isLost ? { serverFieldsText: text } : {}) };
}

/** @throws ApiError 400 naming the field. */
export function readServerFields(
  body: JsonFields,
  format: JsonObject | undefined,
  toolChoice: ToolChoice | undefined,
  { serverFields: isSupported }: TargetAbilities,
): Pick<CallRequest, "serverFields" | "serverFieldsText"> {
  return serverFieldsOf(body, {
    response_format: format,
    tool_choice: toolChoice && wireChoice(toolChoice),
    chat_template_kwargs: readVariables(body, !isSupported),
  });
}

const maxAlternatives = 20;

/** How many alternatives to each token a number in `field` requests. @throws ApiError 400 */
export function readTopLogprobs(
  body: JsonFields,
  field: string,
  { topLogprobs: isSupported }: TargetAbilities,
  neutral = 0,
): number | undefined {
  const count = readNumber(body, field, { min: 0, max: maxAlternatives, integer: true });
  if (count === undefined || count <= neutral) return count;
  // The sampled token's own log-probability is reported all the same.
  return isSupported ? count : 0;
}
