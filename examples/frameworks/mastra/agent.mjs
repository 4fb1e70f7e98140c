/** A shop assistant with Mastra, streaming. */
import { Agent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
import { z } from "zod";
import { getPrice, multiply, questionsOf, systemPrompt } from "../shop.mjs";

export async function agent(task, { baseUrl, apiKey, model, signal }) {
  const assistant = new Agent({
    id: "shop-assistant",
    name: "Shop assistant",
    instructions: systemPrompt,
    model: { id: `openai/${model}`, url: baseUrl, apiKey }, // changed
    maxRetries: 0,
    tools: {
      get_price: createTool({
        id: "get_price",
        description: "",
        inputSchema: z.object({ item: z.string() }),
        execute: async ({ item }) => getPrice(task.metadata, item),
      }),
      multiply: createTool({
        id: "multiply",
        description: "",
        inputSchema: z.object({ a: z.number(), b: z.number() }),
        execute: async ({ a, b }) => multiply(a, b),
      }),
    },
  });
  const messages = [];
  let text = "";
  for (const content of questionsOf(task)) {
    messages.push({ role: "user", content });
    const stream = await assistant.stream(messages, { maxSteps: 4, abortSignal: signal });
    text = await stream.text;
    messages.push(...(await stream.response).messages);
  }
  return text;
}
