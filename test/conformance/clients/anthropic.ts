/** `@anthropic-ai/sdk`, messages. */
import Anthropic from "@anthropic-ai/sdk";
import type { Response, Client } from "../client.ts";

const finishes = {
  end_turn: "stop",
  max_tokens: "length",
  tool_use: "tools",
  stop_sequence: "stop-string",
} as const;

function toResponse(message: Anthropic.Message): Response {
  const { content, stop_reason: finish, usage } = message;
  const thinking = content.flatMap((block) => (block.type === "thinking" ? [block.thinking] : []));
  return {
    text: content.map((block) => (block.type === "text" ? block.text : "")).join(""),
    ...(thinking.length === 0 ? {} : { reasoning: thinking.join("") }),
    calls: content.flatMap((block) =>
      block.type === "tool_use" ? [{ id: block.id, name: block.name, args: block.input }] : [],
    ),
    ...(finish !== null && finish in finishes
      ? { finish: finishes[finish as keyof typeof finishes] }
      : {}),
    usage: { input: usage.input_tokens, output: usage.output_tokens },
  };
}

export const anthropic: Client = {
  name: "anthropic",
  protocol: "anthropic-messages",
  lacks: [],
  open({ baseUrl, apiKey }, settings) {
    const client = new Anthropic({ baseURL: baseUrl, apiKey, authToken: null, maxRetries: 0 });
    const { system, stop, maxTokens = 4096, temperature, topP, tools } = settings;
    const messages: Anthropic.MessageParam[] = [];
    return {
      async send(input) {
        messages.push({
          role: "user",
          content:
            typeof input === "string"
              ? input
              : input.map(({ call, output }) => ({
                  type: "tool_result",
                  tool_use_id: call.id,
                  content: output,
                })),
        });
        const body = {
          model: "scripted",
          max_tokens: maxTokens,
          messages,
          ...(system === undefined ? {} : { system }),
          ...(stop === undefined ? {} : { stop_sequences: [stop] }),
          ...(temperature === undefined ? {} : { temperature }),
          ...(topP === undefined ? {} : { top_p: topP }),
          ...(tools
            ? {
                tools: tools.map(({ name, description, parameters }) => ({
                  name,
                  description,
                  input_schema: { ...parameters },
                })),
              }
            : {}),
        };
        const message = settings.stream
          ? await client.messages.stream(body).finalMessage()
          : await client.messages.create(body);
        messages.push({ role: "assistant", content: message.content });
        return toResponse(message);
      },
    };
  },
};
