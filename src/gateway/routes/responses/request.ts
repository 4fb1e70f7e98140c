/** The body of an OpenAI Responses request to a call, and to how its response is to be written. */
import type { ChatMessage, ToolDefinition } from "../../../core/message.ts";
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
  messageFields,
  messageInner,
  sharedFields,
  sharedIgnored,
  sharedSilent,
  streamOptions,
  toolInner,
  type FieldTable,
} from "../fields/field-table.ts";
import { is, isEmpty, never, neutralSampling, refuseUnsupported } from "../fields/refusals.ts";
import {
  notAFunction,
  readSeed,
  readStops,
  readTool,
  readSampling,
} from "../fields/request-fields.ts";
import { readMessageFields } from "../fields/message-fields.ts";
import { readFormat } from "../fields/output-format.ts";
import { readTopLogprobs } from "../fields/server-fields.ts";
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
    ...messageFields,
    "conversation",
    "include",
    "input",
    "instructions",
    "max_output_tokens",
    "previous_response_id",
    "stop",
    "store",
    "stream_options",
    "text",
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
  ignored: sharedIgnored,
  inner: {
    ...messageInner,
    stream_options: streamOptions,
    text: ["format"],
    tools: [...toolInner, "parameters"],
  },
  silent: sharedSilent,
};

function parseTool(tool: unknown, at: string): ToolDefinition {
  if (isJsonObject(tool) && tool.type === "function") return readTool(tool, at, "parameters");
  throw notAFunction(tool, at);
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
  const format = readFormat(readObject(body, "text")?.format, "text.format");
  return {
    call: {
      protocol: "openai-responses",
      model: readString(body, "model") ?? defaultModel,
      messages,
      ...readMessageFields(body, { parseTool, format }, abilities),
      n: 1,
      sampling: readResponsesSampling(body),
      ...readSeed(body),
      stops: readStops(body, "stop"),
      ...(logprobs ? { topLogprobs: top } : {}),
      ...(store ? { recallFrom: instructions === undefined ? 0 : 1 } : {}),
    },
    stream: readBoolean(body, "stream") ?? false,
    store,
    logprobs,
    added,
  };
}
