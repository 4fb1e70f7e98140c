/** The body of a chat completion request to a call, and to how its answer is to be written. */
import type { JsonObject, ToolDefinition } from "../../core/message.ts";
import { badRequest } from "../api-error.ts";
import type { CallRequest } from "../call-request.ts";
import {
  isJsonObject,
  readArray,
  readBoolean,
  readNumber,
  readObject,
  readString,
  show,
  type JsonFields,
} from "../json-fields.ts";
import { parseMessages } from "./chat-messages.ts";
import { refuseUnsupported } from "./chat-refusals.ts";
import { readSampling } from "./sampling-fields.ts";

export interface ChatRequest {
  readonly call: CallRequest;
  readonly stream: boolean;
  readonly includeUsage: boolean;
  readonly logprobs: boolean;
}

const maxChoices = 128;
const maxStops = 16;

function parseTool(tool: unknown, at: string): ToolDefinition {
  if (!isJsonObject(tool) || tool.type !== "function") {
    throw badRequest(at, `${at} must have the type "function", but it is ${show(tool)}.`);
  }
  const inner = readObject(tool, "function", `${at}.function`) ?? {};
  const name = readString(inner, "name", `${at}.function.name`);
  if (name === undefined || name === "") {
    throw badRequest(`${at}.function.name`, `${at}.function.name is missing.`);
  }
  const description = readString(inner, "description", `${at}.function.description`);
  const parameters = readObject(inner, "parameters", `${at}.function.parameters`);
  return {
    name,
    ...(description === undefined ? {} : { description }),
    ...(parameters === undefined ? {} : { parameters: parameters as JsonObject }),
  };
}

function parseTools(body: JsonFields): readonly ToolDefinition[] {
  const tools = (readArray(body, "tools") ?? []).map((tool, i) => parseTool(tool, `tools[${i}]`));
  const choice = body.tool_choice ?? "auto";
  if (choice === "auto") return tools;
  // What a model is not told about, it does not call.
  if (choice === "none") return [];
  throw badRequest(
    "tool_choice",
    `tool_choice=${show(choice)} is not supported by this gateway. Use "auto" or "none".`,
    "unsupported_parameter",
  );
}

function parseStops(body: JsonFields): readonly string[] {
  const stop = body.stop ?? [];
  const stops: readonly unknown[] = Array.isArray(stop) ? stop : [stop];
  const fit = stops.every((item): item is string => typeof item === "string" && item !== "");
  if (fit && stops.length <= maxStops) return stops;
  throw badRequest(
    "stop",
    `stop must be a non-empty string or a list of at most ${maxStops} of them, but it is ${show(stop)}.`,
  );
}

/** @throws ApiError 400 naming the field. */
export function parseChatRequest(body: JsonFields, defaultModel: string): ChatRequest {
  refuseUnsupported(body);
  const seed = readNumber(body, "seed", {
    min: Number.MIN_SAFE_INTEGER,
    max: Number.MAX_SAFE_INTEGER,
    integer: true,
  });
  const streamOptions = readObject(body, "stream_options") ?? {};
  return {
    call: {
      protocol: "openai-chat",
      model: readString(body, "model") ?? defaultModel,
      messages: parseMessages(body),
      tools: parseTools(body),
      n: readNumber(body, "n", { min: 1, max: maxChoices, integer: true }) ?? 1,
      sampling: readSampling(body),
      ...(seed === undefined ? {} : { seed }),
      stops: parseStops(body),
    },
    stream: readBoolean(body, "stream") ?? false,
    includeUsage: readBoolean(streamOptions, "include_usage") ?? false,
    logprobs: readBoolean(body, "logprobs") ?? false,
  };
}
