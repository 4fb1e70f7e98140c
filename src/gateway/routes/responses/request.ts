/** The body of an OpenAI Responses request to a call, and to how its response is to be written. */
import type { ChatMessage, JsonValue, ToolDefinition } from "../../../core/message.ts";
import { badRequest } from "../../http/api-error.ts";
import type { CallRequest, SamplingChoice } from "../../call/call-request.ts";
import {
  checkCount,
  readArray,
  readBoolean,
  readNumber,
  readObject,
  readString,
  show,
} from "../../http/json-fields.ts";
import { isJsonObject, type JsonFields } from "../../../util/json-object.ts";
import type { TargetAbilities } from "../../targets/target.ts";
import {
  sharedFields,
  sharedIgnored,
  sharedSilent,
  type FieldTable,
} from "../fields/field-table.ts";
import {
  is,
  isEmpty,
  isText,
  never,
  neutralSampling,
  refuseUnsupported,
} from "../fields/refusals.ts";
import {
  allowedTools,
  readSeed,
  readStops,
  readTool,
  readSampling,
} from "../fields/request-fields.ts";
import { readCalls, readLogits, readThinking } from "../fields/logit-fields.ts";
import {
  flatFormat,
  readServerFields,
  readTopLogprobs,
  type ServerField,
} from "../fields/server-fields.ts";
import { defined } from "../../../util/defined.ts";
import { parseInput } from "./items.ts";
import type { References } from "./references.ts";

export interface ResponsesRequest {
  readonly call: CallRequest;
  readonly stream: boolean;
  readonly store: boolean;
  readonly logprobs: boolean;
  /** What of the call's messages is this request's own, instructions apart. */
  readonly added: readonly ChatMessage[];
}

const logprobsPath = "message.output_text.logprobs";
/** Values of `include` that never occur here, so that ignoring them loses nothing. */
const harmlessIncludes = [logprobsPath, "reasoning.encrypted_content"];

export const responsesFields: FieldTable = {
  supported: [
    ...sharedFields,
    "conversation",
    "include",
    "input",
    "instructions",
    "max_output_tokens",
    "previous_response_id",
    "reasoning",
    "stop",
    "store",
    "stream_options",
    "text",
    "tool_choice",
    "tools",
    "top_logprobs",
  ],
  refused: {
    ...neutralSampling,
    background: is(false),
    context_management: isEmpty,
    max_tool_calls: never,
    prompt: never,
    truncation: is("disabled"),
  },
  ignored: { ...sharedIgnored, "text.verbosity": never },
  silent: sharedSilent,
};

function parseTool(tool: unknown, at: string): ToolDefinition {
  if (isJsonObject(tool) && tool.type === "function") return readTool(tool, at, "parameters");
  const type = isJsonObject(tool) ? tool.type : tool;
  throw badRequest(
    at,
    `${at} must have the type "function", but it is ${show(type)}: hosted tools are not supported.`,
    "unsupported_parameter",
  );
}

function readLogprobs(body: JsonFields): boolean {
  const include = readArray(body, "include") ?? [];
  const unknown = include.find((path) => !harmlessIncludes.some((known) => known === path));
  if (unknown === undefined) return include.includes(logprobsPath);
  throw badRequest(
    "include",
    `include=${show(unknown)} is not supported by this gateway. Supported: ${harmlessIncludes.join(", ")}.`,
    "unsupported_parameter",
  );
}

function readResponsesSampling(body: JsonFields): SamplingChoice {
  const bounds = { min: 1, max: Number.MAX_SAFE_INTEGER, integer: true };
  const maxTokens = readNumber(body, "max_output_tokens", bounds);
  return { ...readSampling(body), ...defined({ maxTokens }) };
}

/** OpenAI's chat requests name the function one level deeper. */
function toChatChoice(choice: unknown): JsonValue | undefined {
  if (choice === "required") return choice;
  if (!isJsonObject(choice) || choice.type !== "function") return undefined;
  return typeof choice.name === "string"
    ? { type: "function", function: { name: choice.name } }
    : undefined;
}

function serverFieldsOf(body: JsonFields): readonly ServerField[] {
  const { format } = readObject(body, "text") ?? {};
  const choice = body.tool_choice;
  return [
    {
      at: "text.format",
      name: "response_format",
      value: format,
      isNeutral: isText,
      toChat: flatFormat,
    },
    {
      at: "tool_choice",
      name: "tool_choice",
      value: choice,
      isNeutral: is("auto", "none"),
      toChat: toChatChoice,
    },
  ];
}

/**
 * `recalled` are the messages up to the response that `previous_response_id` names.
 * @throws ApiError 400 naming the field.
 */
export function parseResponsesRequest(
  body: JsonFields,
  defaultModel: string,
  abilities: TargetAbilities,
  recalled: readonly ChatMessage[],
  references: References,
): ResponsesRequest {
  refuseUnsupported(body, responsesFields.refused);
  const top = readTopLogprobs(body, "top_logprobs", abilities) ?? 0;
  const logprobs = readLogprobs(body);
  const instructions = readString(body, "instructions");
  const store = readBoolean(body, "store") ?? true;
  const added = parseInput(body.input, abilities, references);
  const messages: readonly ChatMessage[] = [
    ...(instructions === undefined ? [] : [{ role: "system" as const, content: instructions }]),
    ...recalled,
    ...added,
  ];
  if (messages.length === 0) throw badRequest("input", "input must hold at least one item.");
  // With what came before.
  checkCount(messages.length, "input");
  const tools = (readArray(body, "tools") ?? []).map((tool, i) => parseTool(tool, `tools[${i}]`));
  return {
    call: {
      protocol: "openai-responses",
      model: readString(body, "model") ?? defaultModel,
      messages,
      tools: allowedTools(tools, body.tool_choice),
      n: 1,
      sampling: readResponsesSampling(body),
      ...readSeed(body),
      stops: readStops(body, "stop"),
      ...(logprobs ? { topLogprobs: top } : {}),
      ...readServerFields(serverFieldsOf(body), abilities),
      ...readLogits(body, abilities),
      ...readThinking(body, { effort: readObject(body, "reasoning")?.effort }),
      ...readCalls(body, readArray(body, "tools") ?? []),
      ...(store ? { recallFrom: instructions === undefined ? 0 : 1 } : {}),
    },
    stream: readBoolean(body, "stream") ?? false,
    store,
    logprobs,
    added,
  };
}
