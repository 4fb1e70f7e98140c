/** A shop assistant with the Vercel AI SDK: its agent loop, streaming, through the Responses API. */
import { createOpenAI } from "@ai-sdk/openai";
import { ToolLoopAgent } from "ai";
import { systemPrompt } from "../shop.mjs";
import { shopTools, stopAfter } from "./tools.mjs";

export async function agent(task, { baseUrl, apiKey, model, signal }) {
  const openai = createOpenAI({ baseURL: baseUrl, apiKey }); // changed
  const assistant = new ToolLoopAgent({
    model: openai(model), // changed
    instructions: systemPrompt,
    maxRetries: 0,
    stopWhen: stopAfter(4),
    tools: shopTools(task.metadata),
  });
  const result = await assistant.stream({ prompt: task.instruction, abortSignal: signal });
  return await result.text;
}
