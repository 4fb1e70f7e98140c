/** The body of a chat completion request to a call, and to how its answer is to be written. */
import type { ToolDefinition } from "../../../core/message.ts";
import { badRequest } from "../../api-error.ts";
import type { CallRequest } from "../../call-request.ts";
import {
  isJsonObject,
  readArray,
  readBoolean,
  readObject,
  readString,
  show,
  type JsonFields,
} from "../../json-fields.ts";
import { refuseUnsupported } from "../refusals.ts";
import {
  allowedTools,
  readChoiceCount,
  readSeed,
  readStops,
  readStreamFields,
  readTool,
  type ContentOptions,
  type StreamFields,
} from "../request-fields.ts";
import { readSampling } from "../sampling-fields.ts";
import { parseMessages } from "./messages.ts";
import { neutralChat } from "./refusals.ts";

export interface ChatRequest extends StreamFields {
  readonly call: CallRequest;
  readonly logprobs: boolean;
}

function parseTool(tool: unknown, at: string): ToolDefinition {
  if (!isJsonObject(tool) || tool.type !== "function") {
    throw badRequest(at, `${at} must have the type "function", but it is ${show(tool)}.`);
  }
  const inner = readObject(tool, "function", `${at}.function`) ?? {};
  return readTool(inner, `${at}.function`, "parameters");
}

/** @throws ApiError 400 naming the field. */
export function parseChatRequest(
  body: JsonFields,
  defaultModel: string,
  content: ContentOptions,
): ChatRequest {
  refuseUnsupported(body, neutralChat);
  const tools = (readArray(body, "tools") ?? []).map((tool, i) => parseTool(tool, `tools[${i}]`));
  return {
    call: {
      protocol: "openai-chat",
      model: readString(body, "model") ?? defaultModel,
      messages: parseMessages(body, content),
      tools: allowedTools(tools, body.tool_choice),
      n: readChoiceCount(body),
      sampling: readSampling(body),
      ...readSeed(body),
      stops: readStops(body, "stop"),
    },
    ...readStreamFields(body),
    logprobs: readBoolean(body, "logprobs") ?? false,
  };
}
