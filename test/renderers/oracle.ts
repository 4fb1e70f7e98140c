/**
 * What a template and a tokenizer give on their own: Jinja with plain OpenAI messages, then the library's
 * full tokenization, added tokens included. Shares nothing with the renderers.
 */
import { Template } from "@huggingface/jinja";
import { Tokenizer } from "@huggingface/tokenizers";
import type { ChatMessage, ToolDefinition } from "../../src/core/message.ts";

interface FullTokenizer {
  encode(text: string, options: { add_special_tokens: boolean }): { ids: number[] };
}

function toWire(message: ChatMessage): object {
  const { role, content, reasoning, toolCalls, toolCallId, name } = message;
  return {
    role,
    content,
    ...(reasoning === undefined ? {} : { reasoning_content: reasoning }),
    ...(toolCalls
      ? {
          tool_calls: toolCalls.map((call) => ({
            id: call.id,
            type: "function",
            function: { name: call.name, arguments: JSON.parse(call.arguments) as unknown },
          })),
        }
      : {}),
    ...(toolCallId === undefined ? {} : { tool_call_id: toolCallId }),
    ...(name === undefined ? {} : { name }),
  };
}

export interface Oracle {
  text(messages: readonly ChatMessage[], tools?: readonly ToolDefinition[]): string;
  ids(messages: readonly ChatMessage[], tools?: readonly ToolDefinition[]): number[];
}

export function createOracle(
  template: string,
  tokenizerJson: object,
  variables: Readonly<Record<string, unknown>>,
): Oracle {
  const compiled = new Template(template);
  const full: FullTokenizer = new Tokenizer(tokenizerJson, {});
  const text: Oracle["text"] = (messages, tools) =>
    compiled.render({
      ...variables,
      messages: messages.map(toWire),
      add_generation_prompt: true,
      ...(tools ? { tools: tools.map((tool) => ({ type: "function", function: tool })) } : {}),
    });
  return {
    text,
    ids: (messages, tools) => full.encode(text(messages, tools), { add_special_tokens: false }).ids,
  };
}
