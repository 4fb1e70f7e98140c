/** The body of an Anthropic Messages request to a call, and to how its response is to be written. */
import type { JsonValue, ToolDefinition } from "../../../core/message.ts";
import { ApiError, badRequest } from "../../http/api-error.ts";
import type { CallRequest } from "../../call/call-request.ts";
import {
  readArray,
  readBoolean,
  readNumber,
  readObject,
  readString,
  show,
} from "../../http/json-fields.ts";
import { isJsonObject, type JsonFields } from "../../../util/json-object.ts";
import type { TargetAbilities } from "../../targets/target.ts";
import { sharedFields, sharedSilent, type FieldTable } from "../fields/field-table.ts";
import {
  is,
  isEmpty,
  never,
  neutralSampling,
  refuseUnsupported,
  type IsNeutral,
} from "../fields/refusals.ts";
import {
  readStops,
  readTool,
  type ContentOptions,
  readSampling,
} from "../fields/request-fields.ts";
import { readCalls, readLogits, readThinking } from "../fields/logit-fields.ts";
import { flatFormat, readServerFields, type ServerField } from "../fields/server-fields.ts";
import { parseMessages } from "./content.ts";

export interface MessagesRequest {
  readonly call: CallRequest;
  readonly stream: boolean;
}

const keepsAll = (edit: unknown): boolean => isJsonObject(edit) && edit.keep === "all";

/** Edits that leave everything as it is, as clients send that keep all thinking. */
const editsNothing: IsNeutral = (value) =>
  isEmpty(value) ||
  (isJsonObject(value) && Array.isArray(value.edits) && value.edits.every(keepsAll));

export const messagesFields: FieldTable = {
  supported: [
    ...sharedFields,
    "messages",
    "output_config",
    "output_format",
    "stop_sequences",
    "system",
    "thinking",
    "thread",
    "tool_choice",
    "tools",
  ],
  refused: {
    ...neutralSampling,
    compaction: never,
    container: never,
    context_management: editsNothing,
    mcp_servers: isEmpty,
  },
  ignored: {
    fallbacks: isEmpty,
    inference_geo: never,
    "output_config.effort": never,
    speed: is("standard"),
  },
  silent: [
    ...sharedSilent,
    "betas",
    "billing_policy",
    "cache_control",
    "diagnostics",
    "fallback_credit_token",
    "user_profile_id",
    "workspace_id",
  ],
};

/**
 * A thread keeps the conversation on the server, and requests send only what is new. Clients that get this
 * refusal send the whole conversation instead.
 */
function refuseThread({ thread }: JsonFields): void {
  if (thread === undefined || thread === null) return;
  throw new ApiError({
    status: 400,
    message:
      "thread is not supported by this gateway. Send the whole conversation without it, as clients do after this error.",
    reason: "thread_unsupported_request",
    param: "thread",
    retry: false,
    details: { error_code: "thread_unsupported_request", unsupported: ["thread"] },
  });
}

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
  // A model does not call a tool that is not in its prompt.
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
  refuseThread(body);
  refuseUnsupported(body, messagesFields.refused);
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
      ...readLogits(body, abilities),
      ...readThinking(body, { thinking: body.thinking }),
      ...readCalls(body, readArray(body, "tools") ?? []),
    },
    stream: readBoolean(body, "stream") ?? false,
  };
}
