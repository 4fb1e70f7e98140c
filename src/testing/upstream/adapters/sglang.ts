/** SGLang: its native `/generate`, and OpenAI's routes with ids. */
import type { Sampled } from "../sampled.ts";
import { readOpenAi } from "./chat-prompt.ts";
import type { UpstreamRequest, UpstreamAdapter, WireBody } from "./adapter.ts";
import { openAiResponse } from "./openai-response.ts";

const chat = openAiResponse({ ids: "choice" });

const isNative = ({ body }: UpstreamRequest): boolean => body["input_ids"] !== undefined;

function readNative(body: WireBody): UpstreamRequest {
  const params = (body["sampling_params"] ?? {}) as WireBody;
  const { n = 1, max_new_tokens: maxTokens, stop = [] } = params;
  return {
    prompt: Int32Array.from(body["input_ids"] as number[]),
    n: n as number,
    ...(typeof maxTokens === "number" ? { maxTokens } : {}),
    stops: stop as string[],
    stream: body["stream"] === true,
    body,
  };
}

/** The first `length` tokens, as SGLang repeats them in every event of a stream. */
function toResponse(
  sampled: Sampled,
  index: number,
  request: UpstreamRequest,
  length: number,
): object {
  const ids = Array.from(sampled.tokens.subarray(0, length));
  const isDone = length === sampled.tokens.length;
  const type = sampled.stopReason === "length" ? "length" : "stop";
  return {
    text: "",
    output_ids: ids,
    index,
    meta_info: {
      id: "1",
      prompt_tokens: request.prompt.length,
      completion_tokens: length,
      output_token_logprobs: ids.map((id, i) => [sampled.logprobs[i], id, null]),
      finish_reason: isDone ? { type, ...(sampled.stop ? { matched: sampled.stop } : {}) } : null,
    },
  };
}

export const sglang: UpstreamAdapter = {
  probe: (path, model, contextLength) => {
    if (path === "/get_model_info") return { model_path: `/models/${model}`, is_generation: true };
    if (path === "/health") return {};
    if (path !== "/v1/models") return undefined;
    return { object: "list", data: [{ id: model, max_model_len: contextLength }] };
  },
  read: (path, body) => (path === "/generate" ? readNative(body) : readOpenAi(path, body)),
  whole: (request, sampled, model) => {
    if (!isNative(request)) return chat.whole(request, sampled, model);
    const responses = sampled.map((each, i) => toResponse(each, i, request, each.tokens.length));
    return request.n === 1 ? responses[0] : responses;
  },
  events: (request, sampled, model) => {
    if (!isNative(request)) return chat.events(request, sampled, model);
    return sampled.flatMap((each, index) =>
      Array.from(each.tokens, (_, i) => toResponse(each, index, request, i + 1)),
    );
  },
  end: chat.end,
};
