/** A shop assistant with TanStack AI, through the Responses API. */
import { chat, maxIterations, toolDefinition } from "@tanstack/ai";
import { createOpenaiChat } from "@tanstack/ai-openai";
import { getPrice, multiply, parameters, systemPrompt } from "../shop.mjs";

export async function agent(task, { baseUrl, apiKey, model }) {
  const tool = (name, run) =>
    toolDefinition({ name, description: name, inputSchema: parameters[name] }).server(run);
  return await chat({
    adapter: createOpenaiChat(model, apiKey, { baseURL: baseUrl, maxRetries: 0 }), // changed
    systemPrompts: [systemPrompt],
    messages: [{ role: "user", content: task.instruction }],
    tools: [
      tool("get_price", ({ item }) => getPrice(task.metadata, item)),
      tool("multiply", ({ a, b }) => multiply(a, b)),
    ],
    agentLoopStrategy: maxIterations(4),
    stream: false,
  });
}
