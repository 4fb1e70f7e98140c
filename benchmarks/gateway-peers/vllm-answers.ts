/** Answers of a chat completion as vLLM writes them with token ids and log-probabilities, as bytes. */
import type { CallSize } from "./sizes.ts";
import { sampleIds, sampleLogprobs, sampleWords } from "./words.ts";

const created = 1_790_000_000;
const model = "mock";

interface Sampled {
  readonly words: readonly string[];
  readonly ids: readonly number[];
  readonly logprobs: readonly number[];
  readonly promptIds: readonly number[];
}

function sample({ promptTokens, sampledTokens }: CallSize, seed: number): Sampled {
  return {
    words: sampleWords(sampledTokens, seed),
    ids: sampleIds(sampledTokens, seed + 1),
    logprobs: sampleLogprobs(sampledTokens, seed + 2),
    promptIds: sampleIds(promptTokens, seed + 3),
  };
}

function logprobsOf({ words, logprobs }: Sampled, from: number, to: number): object {
  const content = words.slice(from, to).map((token, i) => ({
    token,
    logprob: logprobs[from + i],
    bytes: [...Buffer.from(token)],
    top_logprobs: [],
  }));
  return { content };
}

function usageOf({ promptIds }: Sampled, completion: number): object {
  return {
    prompt_tokens: promptIds.length,
    total_tokens: promptIds.length + completion,
    completion_tokens: completion,
    prompt_tokens_details: null,
  };
}

function whole(sampled: Sampled, id: string): string {
  const { words, ids, promptIds } = sampled;
  const message = {
    role: "assistant",
    content: words.join(""),
    refusal: null,
    annotations: null,
    audio: null,
    function_call: null,
    tool_calls: [],
    reasoning_content: null,
  };
  return JSON.stringify({
    id,
    object: "chat.completion",
    created,
    model,
    choices: [
      {
        index: 0,
        message,
        logprobs: logprobsOf(sampled, 0, ids.length),
        finish_reason: "stop",
        stop_reason: null,
        token_ids: ids,
      },
    ],
    service_tier: null,
    system_fingerprint: null,
    usage: usageOf(sampled, ids.length),
    prompt_logprobs: null,
    prompt_token_ids: promptIds,
    kv_transfer_params: null,
  });
}

/** One event per token, all in one piece. `counts`: the usage in each of them. */
function events(sampled: Sampled, id: string, counts: boolean): string {
  const { words, ids, promptIds } = sampled;
  const chunk = (fields: object, choices: readonly object[]): string => {
    const head = { id, object: "chat.completion.chunk", created, model };
    return `data: ${JSON.stringify({ ...head, choices, ...fields })}\n\n`;
  };
  const usage = (sampledSoFar: number): object =>
    counts ? { usage: usageOf(sampled, sampledSoFar) } : {};
  const opening = { index: 0, delta: { role: "assistant", content: "" }, logprobs: null };
  const parts = [
    chunk({ prompt_token_ids: promptIds, ...usage(0) }, [{ ...opening, finish_reason: null }]),
  ];
  for (const [i, content] of words.entries()) {
    const isLast = i === words.length - 1;
    const choice = {
      index: 0,
      delta: { content },
      logprobs: logprobsOf(sampled, i, i + 1),
      finish_reason: isLast ? "stop" : null,
      token_ids: [ids[i]],
      ...(isLast ? { stop_reason: null } : {}),
    };
    parts.push(chunk(usage(i + 1), [choice]));
  }
  parts.push(chunk({ usage: usageOf(sampled, ids.length) }, []), "data: [DONE]\n\n");
  return parts.join("");
}

function response(contentType: string, body: string): Buffer {
  const bytes = Buffer.from(body);
  const head =
    `HTTP/1.1 200 OK\r\ncontent-type: ${contentType}\r\nserver: mock\r\n` +
    (contentType === "application/json"
      ? `content-length: ${bytes.length}\r\n\r\n`
      : `transfer-encoding: chunked\r\n\r\n${bytes.length.toString(16)}\r\n`);
  const tail = contentType === "application/json" ? "" : "\r\n0\r\n\r\n";
  return Buffer.concat([Buffer.from(head), bytes, Buffer.from(tail)]);
}

/** HTTP responses, ready to be sent. */
export interface VllmResponse {
  readonly whole: Buffer;
  readonly stream: Buffer;
  /** For a client that asked for `continuous_usage_stats`. */
  readonly countedStream: Buffer;
}

export function createResponse(size: CallSize, seed: number): VllmResponse {
  const sampled = sample(size, seed);
  const id = `chatcmpl-${seed.toString(16).padStart(32, "0")}`;
  const eventStream = "text/event-stream; charset=utf-8";
  return {
    whole: response("application/json", whole(sampled, id)),
    stream: response(eventStream, events(sampled, id, false)),
    countedStream: response(eventStream, events(sampled, id, true)),
  };
}
