/** The body of an Anthropic Messages request to a call, and to how its answer is to be written. */
import type { JsonValue, ToolDefinition } from "../../../core/message.ts";
import { badRequest } from "../../api-error.ts";
import type { CallRequest } from "../../call-request.ts";
import {
  isJsonObject,
  readArray,
  readBoolean,
  readNumber,
  readObject,
  readString,
  show,
  type JsonFields,
} from "../../json-fields.ts";
import type { TargetAbilities } from "../../targets/target.ts";
import { isEmpty, never, neutralSampling, refuseUnsupported } from "../refusals.ts";
import { readStops, readTool, type ContentOptions } from "../request-fields.ts";
import { readSampling } from "../sampling-fields.ts";
import { flatFormat, readServerFields, type ServerField } from "../server-fields.ts";
import { parseMessages } from "./content.ts";

export interface MessagesRequest {
  readonly call: CallRequest;
  readonly stream: boolean;
}

// What it asks for beside these (effort, thinking, cache control ...) is a hint to other models.
const neutral = {
  ...neutralSampling,
  mcp_servers: isEmpty,
  container: never,
};

function parseTool(tool: unknown, at: string): ToolDefinition {
  if (!isJsonObject(tool)) {
    throw badRequest(at, `${at} must be an object, but it is ${show(tool)}.`);
  }
  const type = tool.type ?? "custom";
  if (type === "custom") return readTool(tool, at, "input_schema");
  throw badRequest(
    at,
    `${at} has the type ${show(type)}, a tool of Anthropic's servers. Only the agent's own tools are supported.`,
    "unsupported_parameter",
  );
}

function parseTools(body: JsonFields): readonly ToolDefinition[] {
  const tools = (readArray(body, "tools") ?? []).map((tool, i) => parseTool(tool, `tools[${i}]`));
  // What a model is not told about, it does not call.
  return readObject(body, "tool_choice")?.type === "none" ? [] : tools;
}

const isFreeChoice = (value: unknown): boolean =>
  isJsonObject(value) && (value.type === "auto" || value.type === "none");

function toChatChoice(choice: unknown): JsonValue | undefined {
  if (!isJsonObject(choice)) return undefined;
  if (choice.type === "any") return "required";
  return choice.type === "tool" && typeof choice.name === "string"
    ? { type: "function", function: { name: choice.name } }
    : undefined;
}

function serverFieldsOf(body: JsonFields): readonly ServerField[] {
  const format = {
    name: "response_format",
    isNeutral: never,
    toChat: flatFormat,
  } as const;
  const { format: configured } = readObject(body, "output_config") ?? {};
  return [
    { at: "output_config.format", value: configured, ...format },
    // The name in the beta that came first.
    { at: "output_format", value: body.output_format, ...format },
    {
      at: "tool_choice",
      name: "tool_choice",
      value: body.tool_choice,
      isNeutral: isFreeChoice,
      toChat: toChatChoice,
    },
  ];
}

/** What the model is to read. @throws ApiError 400 naming the field. */
export function parsePrompt(
  body: JsonFields,
  content: ContentOptions,
): Pick<CallRequest, "messages" | "tools"> {
  return { messages: parseMessages(body, content), tools: parseTools(body) };
}

/** @throws ApiError 400 naming the field. */
export function parseMessagesRequest(
  body: JsonFields,
  defaultModel: string,
  abilities: TargetAbilities,
): MessagesRequest {
  refuseUnsupported(body, neutral);
  const bounds = { min: 1, max: Number.MAX_SAFE_INTEGER, integer: true };
  if (readNumber(body, "max_tokens", bounds) === undefined) {
    throw badRequest("max_tokens", "max_tokens is missing.");
  }
  return {
    call: {
      protocol: "anthropic-messages",
      model: readString(body, "model") ?? defaultModel,
      ...parsePrompt(body, abilities),
      n: 1,
      sampling: readSampling(body),
      stops: readStops(body, "stop_sequences"),
      ...readServerFields(serverFieldsOf(body), abilities),
    },
    stream: readBoolean(body, "stream") ?? false,
  };
}
