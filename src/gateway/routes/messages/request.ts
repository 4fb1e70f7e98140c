/** The body of an Anthropic Messages request to a call, and to how its response is to be written. */
import type { ToolDefinition } from "../../../core/message.ts";
import { ApiError, badRequest } from "../../http/api-error.ts";
import type { CallRequest } from "../../call/call-request.ts";
import { readBoolean, readNumber, readObject, readString, show } from "../../http/json-fields.ts";
import { isJsonObject, type JsonFields } from "../../../util/json-object.ts";
import type { TargetAbilities } from "../../targets/target.ts";
import {
  messageFields,
  messageInner,
  sharedFields,
  sharedSilent,
  toolInner,
  type FieldTable,
} from "../fields/field-table.ts";
import {
  is,
  isEmpty,
  never,
  neutralSampling,
  refuseUnsupported,
  type IsNeutral,
} from "../fields/refusals.ts";
import {
  readSeed,
  readStops,
  readTool,
  readTools,
  type ContentOptions,
  readSampling,
} from "../fields/request-fields.ts";
import { readMessageFields } from "../fields/message-fields.ts";
import { readFormat } from "../fields/output-format.ts";
import { readToolChoice } from "../fields/tool-choice.ts";
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
    ...messageFields,
    "messages",
    "output_config",
    "output_format",
    "stop_sequences",
    "system",
    "thread",
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
    speed: is("standard"),
  },
  inner: {
    ...messageInner,
    messages: ["content", "role"],
    output_config: ["format"],
    tools: [...toolInner, "cache_control", "eager_input_streaming", "input_schema"],
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
    `${at} has the type ${show(type)}. Only the agent's own tools are supported: those with name and input_schema, and the type "custom" or none.`,
    "unsupported_parameter",
  );
}

/** What the model is to read. @throws ApiError 400 naming the field. */
export function parsePrompt(
  body: JsonFields,
  content: ContentOptions,
): Pick<CallRequest, "messages" | "tools"> {
  const { tools } = readToolChoice(body, readTools(body, parseTool));
  return { messages: parseMessages(body, content), tools };
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
  // The name in the beta that came first is the other one.
  const format =
    readFormat(readObject(body, "output_config")?.format, "output_config.format") ??
    readFormat(body.output_format, "output_format");
  return {
    call: {
      protocol: "anthropic-messages",
      model: readString(body, "model") ?? defaultModel,
      messages: parseMessages(body, abilities),
      ...readMessageFields(body, { parseTool, format }, abilities),
      n: 1,
      sampling: readSampling(body),
      ...readSeed(body),
      stops: readStops(body, "stop_sequences"),
    },
    stream: readBoolean(body, "stream") ?? false,
  };
}
