/** A shop assistant with CopilotKit: the agent of its runtime, through the Responses API. */
import { createOpenAI } from "@ai-sdk/openai";
import { BuiltInAgent, defineTool } from "@copilotkit/runtime/v2";
import { z } from "zod";
import { getPrice, multiply, questionsOf, systemPrompt } from "../shop.mjs";

export async function agent(task, { baseUrl, apiKey, model, signal }) {
  const openai = createOpenAI({ baseURL: baseUrl, apiKey }); // changed
  const tool = (name, parameters, execute) =>
    defineTool({ name, description: name, parameters, execute });
  const assistant = new BuiltInAgent({
    model: openai(model), // changed
    prompt: systemPrompt,
    maxSteps: 4,
    maxRetries: 0,
    tools: [
      tool("get_price", z.object({ item: z.string() }), async ({ item }) =>
        getPrice(task.metadata, item),
      ),
      tool("multiply", z.object({ a: z.number(), b: z.number() }), async ({ a, b }) =>
        multiply(a, b),
      ),
    ],
  });
  signal.addEventListener("abort", () => assistant.abortRun());
  for (const content of questionsOf(task)) {
    assistant.addMessage({ id: crypto.randomUUID(), role: "user", content });
    await assistant.runAgent();
  }
  return assistant.messages.at(-1)?.content ?? "";
}
