/** A shop assistant with the Vercel AI SDK: streamText, through the Responses API. */
import { createOpenAI } from "@ai-sdk/openai";
import { streamText } from "ai";
import { questionsOf, systemPrompt } from "../shop.mjs";
import { saidIn, shopTools, stopAfter } from "./tools.mjs";

export async function agent(task, { baseUrl, apiKey, model, signal }) {
  const openai = createOpenAI({ baseURL: baseUrl, apiKey }); // changed
  const messages = [];
  let text = "";
  for (const question of questionsOf(task)) {
    messages.push({ role: "user", content: question });
    const result = streamText({
      model: openai(model), // changed
      system: systemPrompt,
      messages,
      tools: shopTools(task.metadata),
      stopWhen: stopAfter(4),
      maxRetries: 0,
      abortSignal: signal,
      onError: () => {}, // `result.text` rejects with it
    });
    text = await result.text;
    messages.push(...(await saidIn(result)));
  }
  return text;
}
