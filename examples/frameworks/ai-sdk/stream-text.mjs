/** A shop assistant with the Vercel AI SDK: streamText, through the Responses API. */
import { createOpenAI } from "@ai-sdk/openai";
import { streamText } from "ai";
import { systemPrompt } from "../shop.mjs";
import { shopTools, stopAfter } from "./tools.mjs";

export async function agent(task, { baseUrl, apiKey, model, signal }) {
  const openai = createOpenAI({ baseURL: baseUrl, apiKey }); // changed
  const result = streamText({
    model: openai(model), // changed
    system: systemPrompt,
    prompt: task.instruction,
    tools: shopTools(task.metadata),
    stopWhen: stopAfter(4),
    maxRetries: 0,
    abortSignal: signal,
    onError: () => {}, // `result.text` rejects with it
  });
  return await result.text;
}
