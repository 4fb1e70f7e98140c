/**
 * llama.cpp's server: its native `/completion`, and OpenAI's routes with ids among the log-probabilities.
 * As the real one, it tells log-probabilities of those tokens only that complete a character, none in a
 * stream with tools, and looks at no image without a projector (`tools/server` of its build 10605).
 */
import { completesCharacter, type Drawn } from "../sampled.ts";
import { promptOf, readOpenAi } from "./chat-prompt.ts";
import type { UpstreamAsk, UpstreamDialect, WireBody } from "./adapter.ts";
import { openAiAnswer } from "./openai-response.ts";

const chat = openAiAnswer({ ids: "logprobs" });

const isNative = ({ body }: UpstreamAsk): boolean => body["n_predict"] !== undefined;

function readNative(body: WireBody): UpstreamAsk {
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

function toAnswer(drawn: Drawn, ask: UpstreamAsk): object {
  const ids = Array.from(drawn.tokens);
  const completes = completesCharacter(drawn.tokens);
  return {
    index: 0,
    content: "",
    tokens: ids,
    stop: true,
    stop_type: drawn.stopReason === "length" ? "limit" : drawn.stop ? "word" : "eos",
    stopping_word: drawn.stop ?? "",
    tokens_predicted: ids.length,
    tokens_evaluated: ask.prompt.length,
    truncated: false,
    completion_probabilities: ids.flatMap((id, i) =>
      completes[i] === true ? [{ id, logprob: drawn.logprobs[i], bytes: [] }] : [],
    ),
  };
}

const hasTools = ({ tools }: WireBody): boolean => Array.isArray(tools) && tools.length > 0;

function refuse({ body, stream }: UpstreamAsk): { status: number; body: object } | undefined {
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

export const llamacpp: UpstreamDialect = {
  refuse,
  probe: (path, model, contextLength) => {
    if (path === "/props") return { default_generation_settings: { n_ctx: contextLength } };
    if (path === "/health") return { status: "ok" };
    return path === "/v1/models" ? { object: "list", data: [{ id: model }] } : undefined;
  },
  read: (path, body) => (path === "/completion" ? readNative(body) : readOpenAi(path, body)),
  whole: (ask, drawn, model) => {
    const [first] = drawn;
    return isNative(ask) && first ? toAnswer(first, ask) : chat.whole(ask, drawn, model);
  },
  events: (ask, drawn, model) => {
    const [first] = drawn;
    return isNative(ask) && first ? [toAnswer(first, ask)] : chat.events(ask, drawn, model);
  },
  end: chat.end,
};
