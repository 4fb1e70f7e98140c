/** A shop assistant with the Vercel AI SDK: generateText, through Chat Completions. */
import { createOpenAI } from "@ai-sdk/openai";
import { generateText } from "ai";
import { systemPrompt } from "../shop.mjs";
import { shopTools, stopAfter } from "./tools.mjs";

export async function agent(task, { baseUrl, apiKey, model, signal }) {
  const openai = createOpenAI({ baseURL: baseUrl, apiKey }); // changed
  const { text } = await generateText({
    model: openai.chat(model), // changed
    system: systemPrompt,
    prompt: task.instruction,
    tools: shopTools(task.metadata),
    stopWhen: stopAfter(4),
    maxRetries: 0,
    abortSignal: signal,
  });
  return text;
}
