/** A shop assistant with Mastra. Only `url` and `apiKey` of the model are special. */
import { Agent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
import type { AgentConfig, Task } from "agent-trainer";
import { z } from "zod";
import { getPrice, multiply } from "./tools.ts";

export async function agent(task: Task, config: AgentConfig): Promise<string> {
  const assistant = new Agent({
    id: "shop-assistant",
    name: "Shop assistant",
    instructions: "You are a shop assistant.",
    model: { id: `openai/${config.model}`, url: config.baseUrl, apiKey: config.apiKey },
    maxRetries: 0,
    tools: {
      get_price: createTool({
        id: "get_price",
        description: "",
        inputSchema: z.object({ item: z.string() }),
        execute: async ({ item }) => getPrice(item),
      }),
      multiply: createTool({
        id: "multiply",
        description: "",
        inputSchema: z.object({ a: z.number(), b: z.number() }),
        execute: async ({ a, b }) => multiply(a, b),
      }),
    },
  });
  const { signal: abortSignal } = config;
  const { text } = await assistant.generate(task.instruction, { maxSteps: 4, abortSignal });
  return text;
}
