/** Messages to a server of Anthropic's Messages API, and its whole responses; it reports no token ids. */
import type { ChatMessage, JsonObject } from "../../../../core/message.ts";
import type { CallRequest } from "../../../call/call-request.ts";
import { ApiError } from "../../../http/api-error.ts";
import { defined } from "../../../../util/defined.ts";
import type { ChatRequest } from "./chat-wire.ts";
import type { ResponseChunk } from "./response-part.ts";
import { listIn, numberIn, objectIn, textIn } from "./wire-values.ts";

type Wire = Readonly<Record<string, unknown>>;

export const anthropicPath = "/v1/messages";

function refuse(what: string): never {
  throw new ApiError({
    status: 400,
    message: `${what} is not supported by a server of Anthropic's API.`,
    reason: "unsupported_value",
    retry: false,
  });
}

function imageOf(url: string): Wire {
  const data = /^data:([^;,]+);base64,(.*)$/su.exec(url);
  const source =
    data === null ? { type: "url", url } : { type: "base64", media_type: data[1], data: data[2] };
  return { type: "image", source };
}

const blocksOf = ({ content }: ChatMessage): readonly Wire[] =>
  typeof content === "string"
    ? content === ""
      ? []
      : [{ type: "text", text: content }]
    : content.map((part) => (part.type === "text" ? { ...part } : imageOf(part.url)));

/** What the model wrote may be no object, which the API requires. */
function inputOf(text: string): unknown {
  try {
    return objectIn(JSON.parse(text));
  } catch {
    return {};
  }
}

function toTurn(message: ChatMessage): { role: "user" | "assistant"; content: readonly Wire[] } {
  const content = blocksOf(message);
  if (message.role === "tool") {
    const result = { type: "tool_result", tool_use_id: message.toolCallId, content };
    return { role: "user", content: [result] };
  }
  if (message.role !== "assistant") return { role: "user", content };
  const calls = (message.toolCalls ?? []).map(({ id, name, arguments: text }) => ({
    ...{ type: "tool_use", id, name, input: inputOf(text) },
  }));
  return { role: "assistant", content: [...content, ...calls] };
}

/** Results of calls made together must be in one message. */
function turnsOf(messages: readonly ChatMessage[]): readonly Wire[] {
  const turns: { role: string; content: readonly Wire[] }[] = [];
  for (const turn of messages.filter(({ role }) => role !== "system").map(toTurn)) {
    const last = turns.at(-1);
    if (last?.role === turn.role) last.content = [...last.content, ...turn.content];
    else turns.push({ ...turn });
  }
  return turns;
}

function choiceOf(fields: JsonObject = {}): Wire {
  const { tool_choice: choice, ...others } = fields;
  const [other] = Object.keys(others);
  if (other !== undefined) refuse(other);
  if (choice === undefined || choice === "auto") return {};
  if (choice === "required") return { tool_choice: { type: "any" } };
  const name = textIn(objectIn(objectIn(choice).function).name);
  return name === undefined ? refuse("tool_choice") : { tool_choice: { type: "tool", name } };
}

function toolsOf({ tools, serverFields }: CallRequest): Wire {
  if (tools.length === 0) return choiceOf(serverFields);
  return {
    tools: tools.map(({ name, description, parameters }) => ({
      ...defined({ name, description }),
      input_schema: parameters ?? { type: "object", properties: {} },
    })),
    ...choiceOf(serverFields),
  };
}

export function anthropicBody({ request, params, model }: ChatRequest): Wire {
  if (request.rawPrompt !== undefined) refuse("A prompt without messages");
  if (request.n !== 1) refuse(`n=${request.n}`);
  if (request.topLogprobs !== undefined) refuse("logprobs");
  if (params.minP !== 0) refuse(`min_p=${params.minP}`);
  const { temperature, topP, topK, maxTokens } = params;
  const system = request.messages.filter(({ role }) => role === "system").flatMap(blocksOf);
  return {
    model,
    max_tokens: maxTokens,
    ...(system.length === 0 ? {} : { system }),
    messages: turnsOf(request.messages),
    ...toolsOf(request),
    // Some of its models take only one of the two, so what is off is not sent.
    ...(temperature === 1 ? {} : { temperature }),
    ...(topP === 1 ? {} : { top_p: topP }),
    ...(topK === 0 ? {} : { top_k: topK }),
    ...(request.stops.length === 0 ? {} : { stop_sequences: request.stops }),
  };
}

const finishes: Readonly<Record<string, string>> = {
  max_tokens: "length",
  model_context_window_exceeded: "length",
  tool_use: "tool_calls",
};

export function readAnthropicResponse(json: unknown): ResponseChunk {
  const { content, usage: counts, stop_reason, stop_sequence } = objectIn(json);
  const blocks = listIn(content).map(objectIn);
  const textOf = (type: string, key: string): string =>
    blocks.flatMap((block) => (block.type === type ? (textIn(block[key]) ?? "") : [])).join("");
  const calls = blocks.filter(({ type }) => type === "tool_use");
  const usage = objectIn(counts);
  const cached = numberIn(usage.cache_read_input_tokens) ?? 0;
  const fresh = (numberIn(usage.input_tokens) ?? 0) + (numberIn(usage.cache_creation_input_tokens) ?? 0);
  const reason = textIn(stop_reason);
  const reasoning = textOf("thinking", "thinking");
  return {
    usage: {
      // Cached tokens are not in `input_tokens`.
      promptTokens: fresh + cached,
      completionTokens: numberIn(usage.output_tokens) ?? 0,
      ...(cached === 0 ? {} : { cachedTokens: cached }),
    },
    parts: [
      {
        choice: 0,
        content: textOf("text", "text"),
        ...(reasoning === "" ? {} : { reasoning }),
        ...(calls.length === 0
          ? {}
          : {
              toolCalls: calls.map(({ id, name, input }, index) => ({
                index,
                ...defined({ id: textIn(id), name: textIn(name) }),
                arguments: JSON.stringify(input ?? {}),
              })),
            }),
        ...defined({
          finish: reason === undefined ? undefined : (finishes[reason] ?? "stop"),
          stopString: textIn(stop_sequence),
        }),
      },
    ],
  };
}
