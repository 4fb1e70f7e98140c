/** A shop assistant with TanStack AI, through the Responses API. */
import { chat, maxIterations, toolDefinition } from "@tanstack/ai";
import { createOpenaiChat } from "@tanstack/ai-openai";
import { getPrice, multiply, parameters, questionsOf, systemPrompt } from "../shop.mjs";

export async function agent(task, { baseUrl, apiKey, model }) {
  const tool = (name, run) =>
    toolDefinition({ name, description: name, inputSchema: parameters[name] }).server(run);
  let messages = [];
  const keep = { name: "keep", onFinish: (context) => (messages = [...context.messages]) };
  let output = "";
  for (const content of questionsOf(task)) {
    output = await chat({
      adapter: createOpenaiChat(model, apiKey, { baseURL: baseUrl, maxRetries: 0 }), // changed
      systemPrompts: [systemPrompt],
      messages: [...messages, { role: "user", content }],
      tools: [
        tool("get_price", ({ item }) => getPrice(task.metadata, item)),
        tool("multiply", ({ a, b }) => multiply(a, b)),
      ],
      agentLoopStrategy: maxIterations(4),
      middleware: [keep],
      stream: false,
    });
    messages.push({ role: "assistant", content: output });
  }
  return output;
}
