/** Messages to a server that renders them itself, and its responses: OpenAI's chat and text completions. */
import type { WorkerKind } from "../../../../core/backend.ts";
import type { SamplingParams } from "../../../../core/policy.ts";
import { wireTool } from "../../../../core/tool-json.ts";
import type { CallRequest } from "../../../call/call-request.ts";
import { toWireMessage } from "../../../http/wire.ts";
import type { ResponseChunk, ToolCallPart } from "./response-part.ts";
import { defined } from "../../../../util/defined.ts";
import { idsIn, listIn, numberIn, objectIn, textIn } from "./wire-values.ts";
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

function toWireTools(request: CallRequest): Wire {
  if (request.tools.length === 0) return {};
  return { tools: request.tools.map(wireTool) };
}

export function chatPath({ request }: ChatRequest): string {
  return request.rawPrompt === undefined ? "/v1/chat/completions" : "/v1/completions";
}

export function chatBody(chat: ChatRequest): Wire {
  const { request, params, kind, model, stream } = chat;
  const { rawPrompt, stops, serverFields, n } = request;
  const counts = kind === "vllm" && n === 1 ? { continuous_usage_stats: true } : {};
  return {
    model,
    ...(rawPrompt === undefined
      ? { messages: request.messages.map(toWireMessage), ...toWireTools(request) }
      : { prompt: rawPrompt }),
    n,
    ...samplingOf(kind, params),
    ...(stops.length === 0 ? {} : { stop: stops }),
    ...serverFields,
    ...captureOf(chat, rawPrompt !== undefined),
    stream,
    ...(stream ? { stream_options: { include_usage: true, ...counts } } : {}),
  };
}

function readToolCall(value: unknown, place: number): ToolCallPart {
  const call = objectIn(value);
  const called = objectIn(call.function);
  const text = called.arguments;
  return {
    index: numberIn(call.index) ?? place,
    ...defined({
      id: textIn(call.id),
      name: textIn(called.name),
      // Some servers write the object itself.
      arguments: typeof text === "object" && text !== null ? JSON.stringify(text) : textIn(text),
    }),
  };
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
    parts: choices.map((choice) => {
      const message = objectIn(choice.message ?? choice.delta);
      const calls = listIn(message.tool_calls);
      return {
        choice: numberIn(choice.index) ?? 0,
        ...readSampled(choice, wantsTexts),
        ...readFinish(choice),
        ...defined({
          sampled: counted === 0 ? undefined : counted,
          content: textIn(message.content),
          reasoning: textIn(message.reasoning) ?? textIn(message.reasoning_content),
          toolCalls: calls.length === 0 ? undefined : calls.map(readToolCall),
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
