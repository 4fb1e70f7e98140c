/** The format that a request wants of the response's text, as chat requests and newer protocols write it. */
import type { JsonObject } from "../../../core/message.ts";
import { isJsonObject } from "../../../util/json-object.ts";
import { unsupported } from "./refusals.ts";

const remedy = 'Use {"type": "json_object"} or {"type": "json_schema"} with a schema.';

/** What stands with a schema, under `json_schema` or next to the type. */
const besides = ["description", "name", "schema", "strict"];
const fieldsOf: Readonly<Record<string, readonly string[]>> = {
  text: [],
  json_object: ["schema"],
  json_schema: ["json_schema", ...besides],
};

const isSchema = (value: unknown): boolean => isJsonObject(value) || typeof value === "boolean";

/** As OpenAI's chat requests have it; undefined where any text will do. @throws ApiError 400 naming `at`. */
export function readFormat(value: unknown, at: string): JsonObject | undefined {
  if (value === undefined || value === null) return undefined;
  const type = isJsonObject(value) ? value.type : undefined;
  if (!isJsonObject(value) || typeof type !== "string" || !Object.hasOwn(fieldsOf, type))
    throw unsupported(at, value, remedy);
  const { type: _type, ...fields } = value;
  const given = Object.keys(fields).filter((name) => fields[name] !== null);
  const unknown = given.find((name) => !fieldsOf[type]!.includes(name));
  if (unknown !== undefined) throw unsupported(`${at}.${unknown}`, fields[unknown], remedy);
  if (type === "text") return undefined;
  if (type === "json_object" && !given.includes("schema")) return { type };
  const isWrapped = given.includes("json_schema");
  const holder = isWrapped ? fields.json_schema : fields;
  const isKnown =
    isJsonObject(holder) &&
    Object.keys(holder).every((name) => besides.includes(name)) &&
    (isWrapped ? given.length === 1 : holder.schema !== undefined) &&
    (holder.schema === undefined || holder.schema === null || isSchema(holder.schema));
  if (!isKnown) throw unsupported(at, value, remedy);
  return { type: "json_schema", json_schema: { name: "answer", ...(holder as JsonObject) } };
}
