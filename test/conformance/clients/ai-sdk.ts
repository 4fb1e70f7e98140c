/** `ai` (Vercel) with `@ai-sdk/openai-compatible`, and with `@ai-sdk/openai` as it comes: responses that are stored. */
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import {
  generateText,
  jsonSchema,
  type LanguageModel,
  streamText,
  tool,
  type ModelMessage,
  type ToolSet,
} from "ai";
import type { World } from "../case.ts";
import type { Chat, Client, Response, Settings } from "../client.ts";

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

function chat(model: LanguageModel, settings: Settings): Chat {
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
        model,
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
}

export const aiSdk: Client = {
  name: "ai",
  protocol: "openai-chat",
  lacks: [],
  open({ baseUrl: baseURL, apiKey }: World, settings) {
    const options = { name: "gateway", baseURL, apiKey, includeUsage: true };
    return chat(createOpenAICompatible(options)("scripted"), settings);
  },
};

export const aiSdkResponses: Client = {
  name: "ai responses",
  protocol: "openai-responses",
  // It shows summaries only.
  lacks: ["stop", "reasoning"],
  open: ({ baseUrl: baseURL, apiKey }: World, settings) =>
    chat(createOpenAI({ baseURL, apiKey })("scripted"), settings),
};
