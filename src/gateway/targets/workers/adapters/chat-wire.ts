/** Messages to a server that renders them itself, and its responses: OpenAI's chat and text completions. */
import type { WorkerKind } from "../../../../core/backend.ts";
import type { SamplingParams } from "../../../../core/policy.ts";
import { wireFunction } from "../../../../core/tool-json.ts";
import { parseExact, writeExact, type ExactJson } from "../../../../util/exact-json.ts";
import { isJsonObject, type JsonFields } from "../../../../util/json-object.ts";
import { RawJson } from "../../../../util/raw-json.ts";
import { callableTools, type CallRequest } from "../../../call/call-request.ts";
import { jsonText } from "../../../http/json-source.ts";
import { toWireMessage } from "../../../http/wire.ts";
import type { ResponseChunk, ToolCallPart } from "./response-part.ts";
import { defined } from "../../../../util/defined.ts";
import { idsIn, listIn, numberIn, objectIn, textIn } from "./wire-values.ts";
import { readContent } from "./content-wire.ts";
import { readSampled, readFinish, readUsage } from "./openai-wire.ts";
import {
  limitOf,
  llamacppSampling,
  openaiSampling,
  sglangChatSampling,
  vllmSampling,
} from "./sampling-wire.ts";
import { readTextResponse } from "./vllm-tokens.ts";

type Wire = Readonly<Record<string, unknown>>;

export interface ChatRequest {
  readonly request: CallRequest;
  readonly params: SamplingParams;
  readonly kind: WorkerKind;
  readonly model: string;
  readonly stream: boolean;
}

function samplingOf(kind: WorkerKind, params: SamplingParams): Wire {
  if (kind === "vllm") return vllmSampling(params);
  if (kind === "sglang") return sglangChatSampling(params);
  if (kind === "openai") return openaiSampling(params);
  return { ...llamacppSampling(params), max_tokens: limitOf(params) };
}

/** What makes a server of this kind report ids and log-probabilities. */
function captureOf({ kind, request }: ChatRequest, isText: boolean): Wire {
  const top = request.topLogprobs;
  // An unknown server might refuse fields that the client did not send.
  if (kind === "openai" && top === undefined) return {};
  // With 0 it gives none at all.
  if (kind === "llamacpp") return { logprobs: true, top_logprobs: Math.max(1, top ?? 0) };
  const logprobs = isText ? { logprobs: top ?? 0 } : { logprobs: true, top_logprobs: top ?? 0 };
  if (kind === "vllm") return { ...logprobs, return_token_ids: true };
  if (kind === "sglang") return { ...logprobs, return_token_ids: true, return_meta_info: true };
  return logprobs;
}

/** What no server knows is said by leaving tools out: of several, which may be called. */
function toolsOf({ kind, request }: ChatRequest): Wire {
  const { strictTools = [], toolChoice, singleCall } = request;
  const { mustCall = false, names = null } = toolChoice ?? {};
  const isOne = mustCall && names?.length === 1;
  const tools = isOne ? request.tools : callableTools(request);
  if (tools.length === 0) return {};
  return {
    tools: tools.map((tool) => {
      // Elsewhere a template would write it into the prompt.
      const isStrict = kind === "openai" && strictTools.includes(tool.name);
      const strict = isStrict ? { strict: true } : {};
      return { type: "function", function: { ...wireFunction(tool), ...strict } };
    }),
    ...(singleCall === true ? { parallel_tool_calls: false } : {}),
    ...(mustCall && names !== null && !isOne ? { tool_choice: "required" } : {}),
    ...(mustCall || names === null ? {} : { tool_choice: "auto" }),
  };
}

/** Fields as the client wrote them. */
function serverFieldsOf({ serverFields, serverFieldsText }: CallRequest): Wire {
  if (serverFieldsText === undefined) return serverFields ?? {};
  const fields = parseExact(serverFieldsText) as ReadonlyMap<string, ExactJson>;
  return Object.fromEntries(
    [...fields].map(([name, value]) => [name, new RawJson(writeExact(value))]),
  );
}

/** Whether to reason: a variable of templates, for servers that are known to take it. */
function thinkingOf({ kind, request }: ChatRequest): Wire {
  const { effort, thinking, serverFields = {} } = request;
  if (kind === "openai") {
    if (effort !== undefined) return { reasoning_effort: effort };
    return thinking === false ? { reasoning_effort: "none" } : {};
  }
  // Some know the three efforts that reason only.
  const given = effort === undefined || thinking !== true ? {} : { reasoning_effort: effort };
  if (thinking === undefined || "chat_template_kwargs" in serverFields) return given;
  return { ...given, chat_template_kwargs: { enable_thinking: thinking, thinking } };
}

export function chatPath({ request }: ChatRequest): string {
  return request.rawPrompt === undefined ? "/v1/chat/completions" : "/v1/completions";
}

export function chatBody(chat: ChatRequest): Wire {
  const { request, params, kind, model, stream } = chat;
  const { rawPrompt, stops, n } = request;
  const counts = kind === "vllm" && n === 1 ? { continuous_usage_stats: true } : {};
  return {
    model,
    ...(rawPrompt === undefined
      ? { messages: request.messages.map(toWireMessage), ...thinkingOf(chat) }
      : { prompt: rawPrompt }),
    n,
    ...samplingOf(kind, params),
    ...(stops.length === 0 ? {} : { stop: stops }),
    ...serverFieldsOf(request),
    ...toolsOf(chat),
    ...captureOf(chat, rawPrompt !== undefined),
    stream,
    ...(stream ? { stream_options: { include_usage: true, ...counts } } : {}),
  };
}

/** Ids are texts, but not of every server. */
const idIn = (id: unknown): string | undefined =>
  typeof id === "number" ? String(id) : textIn(id);

function readToolCall(value: unknown, more: Pick<ToolCallPart, "index" | "isWhole">): ToolCallPart {
  const call = objectIn(value);
  const called = objectIn(call.function);
  const text = called.arguments;
  return {
    ...defined({
      index: numberIn(call.index),
      ...more,
      id: idIn(call.id),
      name: textIn(called.name),
      // Some servers write the object itself.
      arguments: typeof text === "object" && text !== null ? jsonText(text) : textIn(text),
    }),
  };
}

/** Also the one call of the older API. */
function readToolCalls(message: JsonFields, isWhole: boolean): readonly ToolCallPart[] {
  const { tool_calls: given } = message;
  const calls = isJsonObject(given) ? [given] : listIn(given);
  if (calls.length === 0) {
    const { function_call: called } = message;
    const whole = isWhole ? ({ isWhole } as const) : {};
    return isJsonObject(called) ? [readToolCall({ function: called }, whole)] : [];
  }
  if (isWhole) return calls.map((call) => readToolCall(call, { isWhole }));
  // Several at once that say nothing of themselves are told apart by their places.
  const isPlaced =
    calls.length > 1 &&
    calls.map(objectIn).every(({ id, index }) => idIn(id) === undefined && index === undefined);
  return calls.map((call, i) => readToolCall(call, isPlaced ? { index: i } : {}));
}

function readChat(json: unknown, n: number, wantsTexts: boolean): ResponseChunk {
  const response = objectIn(json);
  const choices = listIn(response.choices).map(objectIn);
  const counted = n === 1 ? numberIn(objectIn(response.usage).completion_tokens) : undefined;
  return {
    ...defined({
      promptIds: idsIn(response.prompt_token_ids) ?? idsIn(choices[0]?.prompt_token_ids),
      usage: readUsage(response.usage),
    }),
    parts: choices.map((choice, place) => {
      const isWhole = isJsonObject(choice.message);
      const message = objectIn(choice.message ?? choice.delta);
      const calls = readToolCalls(message, isWhole);
      return {
        choice: isWhole ? place : (numberIn(choice.index) ?? 0),
        ...readSampled(choice, wantsTexts),
        ...readFinish(choice),
        ...readContent(message),
        ...defined({
          sampled: counted === 0 ? undefined : counted,
          toolCalls: calls.length === 0 ? undefined : calls,
        }),
      };
    }),
  };
}

export function readChatResponse(json: unknown, { request }: ChatRequest): ResponseChunk {
  const { rawPrompt, n, topLogprobs } = request;
  const wantsTexts = topLogprobs !== undefined;
  return rawPrompt === undefined
    ? readChat(json, n, wantsTexts)
    : readTextResponse(json, n, wantsTexts);
}
