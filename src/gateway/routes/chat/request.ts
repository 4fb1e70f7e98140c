/** The body of a chat completion request to a call, and to how its response is to be written. */
import type { ToolDefinition } from "../../../core/message.ts";
import type { CallRequest } from "../../call/call-request.ts";
import { readBoolean, readObject, readString } from "../../http/json-fields.ts";
import { isJsonObject, type JsonFields } from "../../../util/json-object.ts";
import type { TargetAbilities } from "../../targets/target.ts";
import { refuseUnsupported } from "../fields/refusals.ts";
import {
  notAFunction,
  readChoiceCount,
  readSeed,
  readStops,
  readStreamFields,
  readTool,
  readTools,
  type StreamFields,
  readSampling,
} from "../fields/request-fields.ts";
import { readMessageFields } from "../fields/message-fields.ts";
import { readFormat } from "../fields/output-format.ts";
import { readTopLogprobs } from "../fields/server-fields.ts";
import { parseMessages } from "./messages.ts";
import { chatFields } from "./refusals.ts";

export interface ChatRequest extends StreamFields {
  readonly call: CallRequest;
  readonly logprobs: boolean;
}

function parseTool(tool: unknown, at: string): ToolDefinition {
  if (!isJsonObject(tool) || tool.type !== "function") throw notAFunction(tool, at);
  const inner = readObject(tool, "function", `${at}.function`) ?? {};
  return readTool(inner, `${at}.function`, "parameters");
}

/** OpenAI's list of tools. @throws ApiError 400 naming the tool. */
export const parseTools = (body: JsonFields): readonly ToolDefinition[] =>
  readTools(body, parseTool);

/** @throws ApiError 400 naming the field. */
export function parseChatRequest(
  body: JsonFields,
  defaultModel: string,
  abilities: TargetAbilities,
): ChatRequest {
  refuseUnsupported(body, chatFields.refused);
  const format = readFormat(body.response_format, "response_format");
  const top = readTopLogprobs(body, "top_logprobs", abilities) ?? 0;
  const logprobs = (readBoolean(body, "logprobs") ?? false) || top > 0;
  return {
    call: {
      protocol: "openai-chat",
      model: readString(body, "model") ?? defaultModel,
      messages: parseMessages(body, abilities),
      ...readMessageFields(body, { parseTool, format }, abilities),
      n: readChoiceCount(body),
      sampling: readSampling(body),
      ...readSeed(body),
      stops: readStops(body, "stop"),
      ...(logprobs ? { topLogprobs: top } : {}),
    },
    ...readStreamFields(body),
    logprobs,
  };
}
