/** `openai`, chat completions. */
import OpenAI from "openai";
import type { Response, Client } from "../client.ts";

const finishes = { stop: "stop", length: "length", tool_calls: "tools" } as const;

function toResponse(completion: OpenAI.ChatCompletion): Response {
  const [choice] = completion.choices;
  if (!choice) throw new Error("There is no choice.");
  const message = choice.message as OpenAI.ChatCompletionMessage & { reasoning_content?: string };
  const { finish_reason: finish } = choice;
  const { usage } = completion;
  return {
    text: message.content ?? "",
    ...(message.reasoning_content === undefined ? {} : { reasoning: message.reasoning_content }),
    calls: (message.tool_calls ?? []).map((call) => {
      if (call.type !== "function") throw new Error(call.type);
      return { id: call.id, name: call.function.name, args: JSON.parse(call.function.arguments) };
    }),
    ...(finish in finishes ? { finish: finishes[finish as keyof typeof finishes] } : {}),
    ...(usage ? { usage: { input: usage.prompt_tokens, output: usage.completion_tokens } } : {}),
  };
}

/** The helper merges what OpenAI's own servers send; reasoning is merged by whoever wants it. */
async function collect(
  stream: ReturnType<OpenAI["chat"]["completions"]["stream"]>,
): Promise<OpenAI.ChatCompletion> {
  let reasoning = "";
  for await (const chunk of stream) {
    const delta = chunk.choices[0]?.delta as { reasoning_content?: string } | undefined;
    reasoning += delta?.reasoning_content ?? "";
  }
  const completion = await stream.finalChatCompletion();
  const message = completion.choices[0]?.message;
  if (message && reasoning !== "") Object.assign(message, { reasoning_content: reasoning });
  return completion;
}

export const openAiChat: Client = {
  name: "openai chat",
  protocol: "openai-chat",
  lacks: [],
  open({ baseUrl, apiKey }, settings) {
    const client = new OpenAI({ baseURL: baseUrl, apiKey, maxRetries: 0 });
    const { system, stop, maxTokens, temperature, topP, tools } = settings;
    const messages: OpenAI.ChatCompletionMessageParam[] =
      system === undefined ? [] : [{ role: "system", content: system }];
    return {
      async send(input) {
        if (typeof input === "string") messages.push({ role: "user", content: input });
        else {
          for (const { call, output } of input) {
            messages.push({ role: "tool", tool_call_id: call.id, content: output });
          }
        }
        const body = {
          model: "scripted",
          messages,
          ...(stop === undefined ? {} : { stop }),
          ...(maxTokens === undefined ? {} : { max_tokens: maxTokens }),
          ...(temperature === undefined ? {} : { temperature }),
          ...(topP === undefined ? {} : { top_p: topP }),
          ...(tools
            ? {
                tools: tools.map(({ name, description, parameters }) => ({
                  type: "function" as const,
                  function: { name, description, parameters: { ...parameters } },
                })),
              }
            : {}),
        };
        const completion = settings.stream
          ? await collect(
              client.chat.completions.stream({ ...body, stream_options: { include_usage: true } }),
            )
          : await client.chat.completions.create(body);
        const message = completion.choices[0]?.message;
        if (message) messages.push(message);
        return toResponse(completion);
      },
    };
  },
};
