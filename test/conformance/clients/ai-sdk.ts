/** `ai` (Vercel) with `@ai-sdk/openai-compatible`. */
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, jsonSchema, streamText, tool, type ModelMessage, type ToolSet } from "ai";
import type { Response, Client, Settings } from "../client.ts";

function toTools(settings: Settings): ToolSet {
  return Object.fromEntries(
    (settings.tools ?? []).map(({ name, description, parameters }) => [
      name,
      tool({ description, inputSchema: jsonSchema({ ...parameters }) }),
    ]),
  );
}

interface Outcome {
  readonly text: string;
  readonly reasoningText: string | undefined;
  readonly toolCalls: readonly { toolCallId: string; toolName: string; input: unknown }[];
  readonly finishReason: string;
  readonly usage: { inputTokens: number | undefined; outputTokens: number | undefined };
}

function toResponse(outcome: Outcome): Response {
  const { inputTokens = 0, outputTokens = 0 } = outcome.usage;
  const finishes: Record<string, Response["finish"]> = { length: "length", "tool-calls": "tools" };
  return {
    text: outcome.text,
    ...(outcome.reasoningText === undefined ? {} : { reasoning: outcome.reasoningText }),
    calls: outcome.toolCalls.map((call) => ({
      id: call.toolCallId,
      name: call.toolName,
      args: call.input,
    })),
    finish: finishes[outcome.finishReason] ?? "stop",
    usage: { input: inputTokens, output: outputTokens },
  };
}

export const aiSdk: Client = {
  name: "ai",
  protocol: "openai-chat",
  lacks: [],
  open({ baseUrl, apiKey }, settings) {
    const provider = createOpenAICompatible({
      name: "gateway",
      baseURL: baseUrl,
      apiKey,
      includeUsage: true,
    });
    const { system, stop, maxTokens, temperature, topP, tools } = settings;
    const messages: ModelMessage[] = [];
    return {
      async send(input) {
        messages.push(
          typeof input === "string"
            ? { role: "user", content: input }
            : {
                role: "tool",
                content: input.map(({ call, output }) => ({
                  type: "tool-result",
                  toolCallId: call.id,
                  toolName: call.name,
                  output: { type: "text", value: output },
                })),
              },
        );
        const options = {
          model: provider("scripted"),
          messages,
          maxRetries: 0,
          ...(system === undefined ? {} : { system }),
          ...(stop === undefined ? {} : { stopSequences: [stop] }),
          ...(maxTokens === undefined ? {} : { maxOutputTokens: maxTokens }),
          ...(temperature === undefined ? {} : { temperature }),
          ...(topP === undefined ? {} : { topP }),
          ...(tools ? { tools: toTools(settings) } : {}),
        };
        if (!settings.stream) {
          const result = await generateText(options);
          messages.push(...result.response.messages);
          return toResponse(result);
        }
        const result = streamText({ ...options, onError: () => undefined });
        for await (const part of result.fullStream) if (part.type === "error") throw part.error;
        messages.push(...(await result.response).messages);
        return toResponse({
          text: await result.text,
          reasoningText: await result.reasoningText,
          toolCalls: await result.toolCalls,
          finishReason: await result.finishReason,
          usage: await result.usage,
        });
      },
    };
  },
};
