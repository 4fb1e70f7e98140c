/** Messages to a server of Anthropic's Messages API, and its whole responses; it reports no token ids. */
import type { ChatMessage, JsonObject, ToolDefinition } from "../../../../core/message.ts";
import type { CallRequest } from "../../../call/call-request.ts";
import { ApiError } from "../../../http/api-error.ts";
import { wireFunction } from "../../../../core/tool-json.ts";
import { parseObject } from "../../../../util/json-object.ts";
import { RawJson } from "../../../../util/raw-json.ts";
import { jsonText } from "../../../http/json-source.ts";
import { defined } from "../../../../util/defined.ts";
import type { ChatRequest } from "./chat-wire.ts";
import type { ResponseChunk } from "./response-part.ts";
import { listIn, numberIn, objectIn, textIn } from "./wire-values.ts";

type Wire = Readonly<Record<string, unknown>>;

export const anthropicPath = "/v1/messages";

/** The API requires a limit; every model of its has at least this one. */
const defaultMaxTokens = 4096;

type ToolFields = Pick<
  CallRequest,
  "messages" | "singleCall" | "strictTools" | "toolChoice" | "tools"
>;

const nameOf = ({ name }: { readonly name: string }): string => name;

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

/** The API refuses empty texts. */
const blocksOf = ({ content }: ChatMessage): readonly Wire[] =>
  (typeof content === "string" ? [{ type: "text", text: content } as const] : content).flatMap(
    (part): readonly Wire[] => {
      if (part.type === "image") return [imageOf(part.url)];
      return part.text.trim() === "" ? [] : [{ type: "text", text: part.text }];
    },
  );

/** What the model wrote may be no object, which the API requires. */
const inputOf = (text: string): unknown => (parseObject(text) === null ? {} : new RawJson(text));

function toTurn(message: ChatMessage): { role: "user" | "assistant"; content: readonly Wire[] } {
  const content = blocksOf(message);
  if (message.role === "tool") {
    const result = { type: "tool_result", tool_use_id: message.toolCallId };
    return { role: "user", content: [content.length === 0 ? result : { ...result, content }] };
  }
  if (message.role !== "assistant") return { role: "user", content };
  const calls = (message.toolCalls ?? []).map(({ id, name, arguments: text }) => ({
    type: "tool_use",
    id,
    name,
    input: inputOf(text),
  }));
  return { role: "assistant", content: [...content, ...calls] };
}

/** Results of calls made together must be in one message. */
function turnsOf(messages: readonly ChatMessage[]): readonly Wire[] {
  const turns: { role: string; content: readonly Wire[] }[] = [];
  for (const turn of messages.filter(({ role }) => role !== "system").map(toTurn)) {
    if (turn.content.length === 0) continue;
    const last = turns.at(-1);
    if (last?.role === turn.role) last.content = [...last.content, ...turn.content];
    else turns.push({ ...turn });
  }
  return turns;
}

function choiceOf({ toolChoice, singleCall }: ToolFields): Wire {
  const { mustCall = false, names = null } = toolChoice ?? {};
  const single = singleCall === true ? { disable_parallel_tool_use: true } : {};
  if (!mustCall) return singleCall === true ? { type: "auto", ...single } : {};
  return names?.length === 1
    ? { type: "tool", name: names[0], ...single }
    : { type: "any", ...single };
}

function toTool(tool: ToolDefinition, isStrict = false): Wire {
  const { parameters = { type: "object", properties: {} }, ...rest } = wireFunction(tool);
  return { ...rest, input_schema: parameters, ...(isStrict ? { strict: true } : {}) };
}

/** Where earlier calls are in the messages, the API requires tools, also if the agent forbids their use now. */
function toolsOf(fields: ToolFields): Wire {
  const { messages, tools } = fields;
  if (tools.length === 0) {
    const called = new Set(messages.flatMap(({ toolCalls = [] }) => toolCalls.map(nameOf)));
    if (called.size === 0) return {};
    return { tools: [...called].map((name) => toTool({ name })), tool_choice: { type: "none" } };
  }
  const choice = choiceOf(fields);
  const { strictTools = [], toolChoice } = fields;
  const { mustCall = false, names = null } = toolChoice ?? {};
  // Of several tools, which may be called is said by leaving the others out.
  const isLeftOut = (name: string): boolean =>
    names !== null && !(mustCall && names.length === 1) && !names.includes(name);
  return {
    tools: tools
      .filter(({ name }) => !isLeftOut(name))
      .map((tool) => toTool(tool, strictTools.includes(tool.name))),
    ...(Object.keys(choice).length === 0 ? {} : { tool_choice: choice }),
  };
}

/** Structured output, the only one of the other fields that has a counterpart. */
function formatOf({ tool_choice: _choice, ...others }: JsonObject): Wire {
  const { response_format: format, ...rest } = others;
  const [other] = Object.keys(rest);
  if (other !== undefined) refuse(other);
  if (format === undefined) return {};
  const { schema } = objectIn(objectIn(format).json_schema);
  if (schema === undefined) refuse(`response_format ${JSON.stringify(format)}`);
  return { output_config: { format: { type: "json_schema", schema } } };
}

/** What the model is to read. Earlier reasoning is left out, since it would have to be signed. */
export function anthropicPrompt(fields: ToolFields): Wire {
  const system = fields.messages.filter(({ role }) => role === "system").flatMap(blocksOf);
  return {
    ...(system.length === 0 ? {} : { system }),
    messages: turnsOf(fields.messages),
    ...toolsOf(fields),
  };
}

export function anthropicBody({ request, params, model }: ChatRequest): Wire {
  if (request.rawPrompt !== undefined) refuse("A prompt without messages");
  if (request.n !== 1) refuse(`n=${request.n}`);
  if (request.topLogprobs !== undefined) refuse("logprobs");
  if (params.minP !== 0) refuse(`min_p=${params.minP}`);
  const { temperature, topP, topK, maxTokens } = params;
  return {
    model,
    max_tokens: Number.isFinite(maxTokens) ? maxTokens : defaultMaxTokens,
    ...anthropicPrompt(request),
    ...formatOf(request.serverFields ?? {}),
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
  refusal: "content_filter",
};

const readable: ReadonlySet<unknown> = new Set([
  "redacted_thinking",
  "text",
  "thinking",
  "tool_use",
]);

export function readAnthropicResponse(json: unknown): ResponseChunk {
  const { content, usage: counts, stop_reason, stop_sequence } = objectIn(json);
  const blocks = listIn(content).map(objectIn);
  const textOf = (type: string, key: string): string =>
    blocks.flatMap((block) => (block.type === type ? (textIn(block[key]) ?? "") : [])).join("");
  const calls = blocks.filter(({ type }) => type === "tool_use");
  const other = blocks.find(({ type }) => !readable.has(type));
  const usage = objectIn(counts);
  const cached = numberIn(usage.cache_read_input_tokens) ?? 0;
  const fresh =
    (numberIn(usage.input_tokens) ?? 0) + (numberIn(usage.cache_creation_input_tokens) ?? 0);
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
                arguments: jsonText(objectIn(input)),
              })),
            }),
        ...defined({
          finish: reason === undefined ? undefined : (finishes[reason] ?? "stop"),
          stopString: textIn(stop_sequence),
          unreadable: other && `sent content of the type ${JSON.stringify(other.type)}`,
        }),
      },
    ],
  };
}
