/** SGLang: its native `/generate`, and OpenAI's routes with ids. */
import type { Drawn } from "../sampled.ts";
import { readOpenAi } from "./chat-prompt.ts";
import type { UpstreamAsk, UpstreamDialect, WireBody } from "./adapter.ts";
import { openAiAnswer } from "./openai-response.ts";

const chat = openAiAnswer({ ids: "choice" });

const isNative = ({ body }: UpstreamAsk): boolean => body["input_ids"] !== undefined;

function readNative(body: WireBody): UpstreamAsk {
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
function toAnswer(drawn: Drawn, index: number, ask: UpstreamAsk, length: number): object {
  const ids = Array.from(drawn.tokens.subarray(0, length));
  const isDone = length === drawn.tokens.length;
  const type = drawn.stopReason === "length" ? "length" : "stop";
  return {
    text: "",
    output_ids: ids,
    index,
    meta_info: {
      id: "1",
      prompt_tokens: ask.prompt.length,
      completion_tokens: length,
      output_token_logprobs: ids.map((id, i) => [drawn.logprobs[i], id, null]),
      finish_reason: isDone ? { type, ...(drawn.stop ? { matched: drawn.stop } : {}) } : null,
    },
  };
}

export const sglang: UpstreamDialect = {
  probe: (path, model, contextLength) => {
    if (path === "/get_model_info") return { model_path: `/models/${model}`, is_generation: true };
    if (path === "/health") return {};
    if (path !== "/v1/models") return undefined;
    return { object: "list", data: [{ id: model, max_model_len: contextLength }] };
  },
  read: (path, body) => (path === "/generate" ? readNative(body) : readOpenAi(path, body)),
  whole: (ask, drawn, model) => {
    if (!isNative(ask)) return chat.whole(ask, drawn, model);
    const answers = drawn.map((each, i) => toAnswer(each, i, ask, each.tokens.length));
    return ask.n === 1 ? answers[0] : answers;
  },
  events: (ask, drawn, model) => {
    if (!isNative(ask)) return chat.events(ask, drawn, model);
    return drawn.flatMap((each, index) =>
      Array.from(each.tokens, (_, i) => toAnswer(each, index, ask, i + 1)),
    );
  },
  end: chat.end,
};
