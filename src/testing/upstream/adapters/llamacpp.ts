/**
 * llama.cpp's server: its native `/completion`, and OpenAI's routes with ids among the log-probabilities.
 * As the real one, it reports log-probabilities of those tokens only that complete a character, none in a
 * stream with tools, and looks at no image without a projector (`tools/server` of its build 10605).
 */
import { completesCharacter, type Sampled } from "../sampled.ts";
import { promptOf, readOpenAi } from "./chat-prompt.ts";
import type { UpstreamRequest, UpstreamAdapter, WireBody } from "./adapter.ts";
import { openAiResponse } from "./openai-response.ts";

const chat = openAiResponse({ ids: "logprobs" });

const isNative = ({ body }: UpstreamRequest): boolean => body["n_predict"] !== undefined;

function readNative(body: WireBody): UpstreamRequest {
  const { n_predict: maxTokens, stop = [] } = body;
  return {
    prompt: promptOf(body),
    n: 1,
    ...(typeof maxTokens === "number" ? { maxTokens } : {}),
    stops: stop as string[],
    stream: body["stream"] === true,
    body,
  };
}

function toResponse(sampled: Sampled, request: UpstreamRequest): object {
  const ids = Array.from(sampled.tokens);
  const completes = completesCharacter(sampled.tokens);
  return {
    index: 0,
    content: "",
    tokens: ids,
    stop: true,
    stop_type: sampled.stopReason === "length" ? "limit" : sampled.stop ? "word" : "eos",
    stopping_word: sampled.stop ?? "",
    tokens_predicted: ids.length,
    tokens_evaluated: request.prompt.length,
    truncated: false,
    completion_probabilities: ids.flatMap((id, i) =>
      completes[i] === true ? [{ id, logprob: sampled.logprobs[i], bytes: [] }] : [],
    ),
  };
}

const hasTools = ({ tools }: WireBody): boolean => Array.isArray(tools) && tools.length > 0;

function refuse({ body, stream }: UpstreamRequest): { status: number; body: object } | undefined {
  const error = (code: number, type: string, message: string) => ({
    status: code,
    body: { error: { code, message, type } },
  });
  if (stream && hasTools(body) && body["logprobs"] === true) {
    const message = "logprobs is not supported with tools + stream";
    return error(400, "invalid_request_error", message);
  }
  if (JSON.stringify(body["messages"] ?? []).includes('"image_url"')) {
    const hint = "hint: if this is unexpected, you may need to provide the mmproj";
    return error(500, "server_error", `image input is not supported - ${hint}`);
  }
  return undefined;
}

export const llamacpp: UpstreamAdapter = {
  refuse,
  probe: (path, model, contextLength) => {
    if (path === "/props") return { default_generation_settings: { n_ctx: contextLength } };
    if (path === "/health") return { status: "ok" };
    return path === "/v1/models" ? { object: "list", data: [{ id: model }] } : undefined;
  },
  read: (path, body) => (path === "/completion" ? readNative(body) : readOpenAi(path, body)),
  whole: (request, sampled, model) => {
    const [first] = sampled;
    return isNative(request) && first
      ? toResponse(first, request)
      : chat.whole(request, sampled, model);
  },
  events: (request, sampled, model) => {
    const [first] = sampled;
    return isNative(request) && first
      ? [toResponse(first, request)]
      : chat.events(request, sampled, model);
  },
  end: chat.end,
};
