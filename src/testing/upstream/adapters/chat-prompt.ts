/** Messages of a chat request to the prompt that a server would make of them. */
import type { ChatMessage, ToolDefinition } from "../../../core/message.ts";
import { createByteRenderer } from "../../byte-renderer.ts";
import { defined } from "../../../util/defined.ts";
import type { UpstreamRequest, WireBody } from "./adapter.ts";

interface WirePart {
  readonly text?: string;
}

interface WireMessage {
  readonly role: ChatMessage["role"];
  readonly content: string | readonly WirePart[] | null;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
}

const renderer = createByteRenderer();

function readMessage({ role, content, reasoning_content, tool_calls }: WireMessage): ChatMessage {
  // An image is one word here.
  const partText = ({ text = "<image>" }: WirePart): string => text;
  return {
    role,
    content: typeof content === "string" ? content : (content ?? []).map(partText).join(""),
    ...defined({ reasoning: reasoning_content }),
    ...(tool_calls
      ? { toolCalls: tool_calls.map(({ id, function: called }) => ({ id, ...called })) }
      : {}),
  };
}

/** The prompt of a body with `prompt` or `messages`, the byte renderer's tokens. */
export function promptOf({ prompt, messages = [], tools = [] }: WireBody): Int32Array {
  if (typeof prompt === "string") return Int32Array.from(new TextEncoder().encode(prompt));
  if (Array.isArray(prompt)) return Int32Array.from(prompt as number[]);
  const definitions = (tools as { function: ToolDefinition }[]).map((tool) => tool.function);
  const said = (messages as WireMessage[]).map(readMessage);
  return renderer.render(said, { tools: definitions }).tokens;
}

/** A call at OpenAI's chat or text completions. */
export function readOpenAi(path: string, body: WireBody): UpstreamRequest | null {
  if (path !== "/v1/completions" && path !== "/v1/chat/completions") return null;
  const { n = 1, max_tokens: maxTokens, stop = [], stream } = body;
  return {
    prompt: promptOf(body),
    n: n as number,
    ...(typeof maxTokens === "number" ? { maxTokens } : {}),
    stops: stop as string[],
    stream: stream === true,
    body,
  };
}
