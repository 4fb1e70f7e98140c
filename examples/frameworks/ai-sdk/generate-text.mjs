/** A shop assistant with the Vercel AI SDK: generateText, through Chat Completions. */
import { createOpenAI } from "@ai-sdk/openai";
import { generateText } from "ai";
import { questionsOf, systemPrompt } from "../shop.mjs";
import { saidIn, shopTools, stopAfter } from "./tools.mjs";

export async function agent(task, { baseUrl, apiKey, model, signal }) {
  const openai = createOpenAI({ baseURL: baseUrl, apiKey }); // changed
  const messages = [];
  let text = "";
  for (const question of questionsOf(task)) {
    messages.push({ role: "user", content: question });
    const result = await generateText({
      model: openai.chat(model), // changed
      system: systemPrompt,
      messages,
      tools: shopTools(task.metadata),
      stopWhen: stopAfter(4),
      maxRetries: 0,
      abortSignal: signal,
    });
    text = await result.text;
    messages.push(...(await saidIn(result)));
  }
  return text;
}
