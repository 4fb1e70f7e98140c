/** A shop assistant with the Vercel AI SDK. Only the provider's `baseURL` and `apiKey` are special. */
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { AgentConfig, Task } from "agent-trainer";
import { type JSONSchema7, generateText, jsonSchema, stepCountIs, tool } from "ai";
import { getPrice, multiply } from "./tools.ts";

function schema<Input>(properties: Record<string, JSONSchema7>) {
  return jsonSchema<Input>({ type: "object", properties });
}

export async function agent(task: Task, config: AgentConfig): Promise<string> {
  const { baseUrl, apiKey } = config;
  const provider = createOpenAICompatible({ name: "trainer", baseURL: baseUrl, apiKey });
  const { text } = await generateText({
    model: provider(config.model),
    system: "You are a shop assistant.",
    prompt: task.instruction,
    tools: {
      get_price: tool({
        inputSchema: schema<{ item?: unknown }>({ item: { type: "string" } }),
        execute: ({ item }) => getPrice(item),
      }),
      multiply: tool({
        inputSchema: schema<{ a?: unknown; b?: unknown }>({
          a: { type: "number" },
          b: { type: "number" },
        }),
        execute: ({ a, b }) => multiply(a, b),
      }),
    },
    stopWhen: stepCountIs(4),
    maxRetries: 0,
    abortSignal: config.signal,
  });
  return text;
}
