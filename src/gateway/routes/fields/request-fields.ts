/** Fields that requests of several protocols share. */
import type { ImagePart, JsonObject, ToolDefinition } from "../../../core/message.ts";
import { badRequest } from "../../http/api-error.ts";
import {
  readArray,
  readBoolean,
  readNumber,
  readObject,
  readString,
  show,
} from "../../http/json-fields.ts";
import { lostText, readSources } from "../../http/json-source.ts";
import { isJsonObject, type JsonFields } from "../../../util/json-object.ts";
import { defined, isGiven } from "../../../util/defined.ts";
import type { SamplingChoice } from "../../call/call-request.ts";

const maxChoices = 128;
const maxStops = 16;

export function readChoiceCount(body: JsonFields): number {
  return readNumber(body, "n", { min: 1, max: maxChoices, integer: true }) ?? 1;
}

export function readSeed(body: JsonFields): { readonly seed?: number } {
  const bounds = { min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER, integer: true };
  const seed = readNumber(body, "seed", bounds);
  return seed === undefined ? {} : { seed };
}

/** A string or a list of them. */
export function readStops(body: JsonFields, field: string): readonly string[] {
  const stop = body[field] ?? [];
  const stops: readonly unknown[] = Array.isArray(stop) ? stop : [stop];
  const fit = stops.every((item): item is string => typeof item === "string" && item !== "");
  if (fit && stops.length <= maxStops) return stops;
  throw badRequest(
    field,
    `${field} must be a non-empty string or a list of at most ${maxStops} of them, but it is ${show(stop)}.`,
  );
}

export interface StreamFields {
  readonly stream: boolean;
  readonly includeUsage: boolean;
}

export function readStreamFields(body: JsonFields): StreamFields {
  const options = readObject(body, "stream_options") ?? {};
  return {
    stream: readBoolean(body, "stream") ?? false,
    includeUsage: readBoolean(options, "include_usage") ?? false,
  };
}

const schemaFields = ["parameters", "input_schema", "inputSchema"];

/** One function; `schemaField` is what its protocol calls the JSON Schema of its arguments. */
export function readTool(
  tool: JsonFields,
  at: string,
  schemaField: "parameters" | "input_schema",
): ToolDefinition {
  const name = readString(tool, "name", `${at}.name`);
  if (name === undefined || name === "") {
    throw badRequest(`${at}.name`, `${at}.name is missing.`);
  }
  const misplaced = schemaFields.find((field) => field !== schemaField && isGiven(tool[field]));
  if (misplaced !== undefined) {
    throw badRequest(
      `${at}.${misplaced}`,
      `${at}.${misplaced} is the schema of the arguments by another protocol's name: call it ${schemaField}.`,
    );
  }
  const description = readString(tool, "description", `${at}.description`);
  readBoolean(tool, "strict");
  const parameters = readObject(tool, schemaField, `${at}.${schemaField}`);
  return {
    name,
    ...defined({ description }),
    ...(parameters === undefined ? {} : { parameters: parameters as JsonObject }),
    ...defined({ parametersText: parameters && lostText(parameters) }),
  };
}

/** The list of tools, each read by `parse`. */
export function readTools(
  body: JsonFields,
  parse: (tool: unknown, at: string) => ToolDefinition,
): readonly ToolDefinition[] {
  const tools = readArray(body, "tools") ?? [];
  readSources(body, "tools");
  return tools.map((tool, i) => parse(tool, `tools[${i}]`));
}

export function notAFunction(tool: unknown, at: string): Error {
  const type = isJsonObject(tool) ? tool.type : undefined;
  const why =
    type === "custom"
      ? ": custom tools, whose input is free text, are not supported"
      : typeof type === "string"
        ? ": hosted tools, which a provider runs, are not supported"
        : "";
  return badRequest(
    at,
    `${at} must have the type "function", but it is ${show(type ?? tool)}${why}.`,
    "unsupported_parameter",
  );
}

/** What messages may hold. */
export interface ContentOptions {
  /** False where the target reads text only. */
  readonly images: boolean;
}

/** @throws ApiError 400 when there is no image, or the model reads none. */
export function toImagePart(
  url: string | undefined,
  at: string,
  options: ContentOptions,
): ImagePart {
  if (!options.images) throw unreadablePart(at, "image", options, "");
  if (url !== undefined && url !== "") return { type: "image", url };
  throw badRequest(at, `${at} has no image URL.`);
}

/** Types of parts that are not text, in any protocol. */
const media = /image|audio|video|file|document/iu;

/** `known` are the types that the protocol has. */
export function unreadablePart(
  at: string,
  type: unknown,
  { images }: ContentOptions,
  known: string,
): Error {
  const isMedia = typeof type === "string" && media.test(type) && !(images && /image/iu.test(type));
  const why = isMedia
    ? `but this model reads text ${images ? "and images " : ""}only`
    : `which is not one of ${known}`;
  return badRequest(at, `${at} has the type ${show(type)}, ${why}.`, "unsupported_content");
}

const count = { min: 1, max: Number.MAX_SAFE_INTEGER, integer: true };

/** Names that `readSampling` knows. */
export const samplingFieldNames = [
  "temperature",
  "top_p",
  "top_k",
  "min_p",
  "max_tokens",
  "max_completion_tokens",
] as const;

/** Absent fields stay absent. @throws ApiError 400 naming the field. */
export function readSampling(fields: JsonFields): SamplingChoice {
  const temperature = readNumber(fields, "temperature", { min: 0, max: 2 });
  const topP = readNumber(fields, "top_p", { min: 0, max: 1, aboveMin: true });
  // vLLM's -1 and 0 both mean off.
  const topK = readNumber(fields, "top_k", {
    min: -1,
    max: Number.MAX_SAFE_INTEGER,
    integer: true,
  });
  const minP = readNumber(fields, "min_p", { min: 0, max: 1 });
  const maxTokens =
    readNumber(fields, "max_completion_tokens", count) ?? readNumber(fields, "max_tokens", count);
  return {
    ...defined({ temperature, topP }),
    ...(topK === undefined ? {} : { topK: Math.max(0, topK) }),
    ...defined({ minP, maxTokens }),
  };
}
