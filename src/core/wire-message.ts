/** Messages in OpenAI's chat format, which fine-tuning programs read. */
import type { ChatMessage } from "./message.ts";
import { defined } from "../util/defined.ts";

/** A message as OpenAI's chat API has it. */
export function wireMessage(message: ChatMessage): Readonly<Record<string, unknown>> {
  const { role, content, reasoning, toolCalls = [], toolCallId, name } = message;
  return {
    role,
    content: typeof content === "string" ? content : content.map(wirePart),
    ...defined({ reasoning_content: reasoning, tool_call_id: toolCallId, name }),
    ...(toolCalls.length === 0
      ? {}
      : {
          tool_calls: toolCalls.map((call) => ({
            id: call.id,
            type: "function",
            function: { name: call.name, arguments: call.arguments },
          })),
        }),
  };
}

type Part = Exclude<ChatMessage["content"], string>[number];

const wirePart = (part: Part): object =>
  part.type === "text" ? part : { type: "image_url", image_url: { url: part.url } };
