/** The body of a chat completion request to a call, and to how its response is to be written. */
import type { ToolDefinition } from "../../../core/message.ts";
import { badRequest } from "../../http/api-error.ts";
import type { CallRequest } from "../../call/call-request.ts";
import { readArray, readBoolean, readObject, readString, show } from "../../http/json-fields.ts";
import { isJsonObject, type JsonFields } from "../../../util/json-object.ts";
import type { TargetAbilities } from "../../targets/target.ts";
import { is, isEmpty, isText, refuseUnsupported } from "../fields/refusals.ts";
import {
  allowedTools,
  readChoiceCount,
  readSeed,
  readStops,
  readStreamFields,
  readTool,
  type StreamFields,
  readSampling,
} from "../fields/request-fields.ts";
import { readCalls, readLogits, readThinking } from "../fields/logit-fields.ts";
import { readServerFields, readTopLogprobs, type ServerField } from "../fields/server-fields.ts";
import { parseMessages } from "./messages.ts";
import { chatFields } from "./refusals.ts";

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

/** OpenAI's list of tools. @throws ApiError 400 naming the tool. */
export function parseTools(body: JsonFields): readonly ToolDefinition[] {
  return (readArray(body, "tools") ?? []).map((tool, i) => parseTool(tool, `tools[${i}]`));
}

function serverFieldsOf(body: JsonFields): readonly ServerField[] {
  const own = (name: ServerField["name"], isNeutral: ServerField["isNeutral"]): ServerField => ({
    at: name,
    name,
    value: body[name],
    isNeutral,
  });
  return [
    own("response_format", isText),
    own("tool_choice", is("auto", "none")),
    own("chat_template_kwargs", isEmpty),
  ];
}

/** @throws ApiError 400 naming the field. */
export function parseChatRequest(
  body: JsonFields,
  defaultModel: string,
  abilities: TargetAbilities,
): ChatRequest {
  refuseUnsupported(body, chatFields.refused);
  const tools = parseTools(body);
  const top = readTopLogprobs(body, "top_logprobs", abilities) ?? 0;
  const logprobs = (readBoolean(body, "logprobs") ?? false) || top > 0;
  return {
    call: {
      protocol: "openai-chat",
      model: readString(body, "model") ?? defaultModel,
      messages: parseMessages(body, abilities),
      tools: allowedTools(tools, body.tool_choice),
      n: readChoiceCount(body),
      sampling: readSampling(body),
      ...readSeed(body),
      stops: readStops(body, "stop"),
      ...(logprobs ? { topLogprobs: top } : {}),
      ...readServerFields(serverFieldsOf(body), abilities),
      ...readLogits(body, abilities),
      ...readThinking(body, { effort: body.reasoning_effort }),
      ...readCalls(body, readArray(body, "tools") ?? []),
    },
    ...readStreamFields(body),
    logprobs,
  };
}
