/** A shop assistant with the Vercel AI SDK: its agent loop, through the Responses API. */
import { createOpenAI } from "@ai-sdk/openai";
import { ToolLoopAgent } from "ai";
import { questionsOf, systemPrompt } from "../shop.mjs";
import { saidIn, shopTools, stopAfter } from "./tools.mjs";

export async function agent(task, { baseUrl, apiKey, model, signal }) {
  const openai = createOpenAI({ baseURL: baseUrl, apiKey }); // changed
  const assistant = new ToolLoopAgent({
    model: openai(model), // changed
    instructions: systemPrompt,
    maxRetries: 0,
    stopWhen: stopAfter(4),
    tools: shopTools(task.metadata),
  });
  const messages = [];
  let text = "";
  for (const question of questionsOf(task)) {
    messages.push({ role: "user", content: question });
    const result = await assistant.generate({ messages, abortSignal: signal });
    ({ text } = result);
    messages.push(...(await saidIn(result)));
  }
  return text;
}
