/**
 * Fields that only a server that renders messages can support, from each protocol, as OpenAI's chat
 * requests name them. Where the gateway renders they are refused by the name the client knows.
 */
import type { JsonObject, JsonValue } from "../../../core/message.ts";
import { readNumber } from "../../http/json-fields.ts";
import { isJsonObject, type JsonFields } from "../../../util/json-object.ts";
import type { TargetAbilities } from "../../targets/target.ts";
import { unsupported, type IsNeutral } from "./refusals.ts";

export interface ServerField {
  /** As the client wrote it. */
  readonly at: string;
  readonly value: unknown;
  readonly isNeutral: IsNeutral;
  /** In OpenAI's chat requests. */
  readonly name: "response_format" | "tool_choice" | "chat_template_kwargs";
  /** The value there; undefined for one that cannot be said there. @default unchanged */
  readonly toChat?: (value: unknown) => JsonValue | undefined;
}

const remedies: Readonly<Record<ServerField["name"], string>> = {
  response_format: 'Use {"type": "json_object"} or {"type": "json_schema"} with a schema.',
  tool_choice: 'Use "auto", "none", "required", or the name of one of the tools.',
  chat_template_kwargs:
    'Use {"enable_thinking": true} or false: other variables are only for servers that render messages themselves.',
};

/** @throws ApiError 400 naming the field. */
export function readServerFields(
  fields: readonly ServerField[],
  { serverFields: isSupported }: TargetAbilities,
): { readonly serverFields?: JsonObject } {
  const serverFields: Record<string, JsonValue> = {};
  for (const { at, value, isNeutral, name, toChat } of fields) {
    if (value === undefined || value === null || isNeutral(value)) continue;
    const wire = toChat ? toChat(value) : (value as JsonValue);
    if (wire === undefined) throw unsupported(at, value, remedies[name]);
    // Templates that the gateway renders take no other variables than that of thinking.
    if (!isSupported && name === "chat_template_kwargs" && !isThinkingOnly(wire))
      throw unsupported(at, value, remedies[name]);
    serverFields[name] = wire;
  }
  return Object.keys(serverFields).length === 0 ? {} : { serverFields };
}

const isThinkingOnly = (value: JsonValue): boolean =>
  isJsonObject(value) &&
  Object.entries(value).every(([key, on]) => key === "enable_thinking" && typeof on === "boolean");

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

/** `{type: "json_schema", name, schema}`, as newer protocols write it without a level between. */
export function flatFormat(value: unknown): JsonValue | undefined {
  if (!isJsonObject(value)) return undefined;
  const { type, ...rest } = value;
  if (type === "json_object") return { type };
  if (type !== "json_schema" || !isJsonObject(rest.schema)) return undefined;
  return { type, json_schema: { name: "answer", ...(rest as JsonObject) } };
}
