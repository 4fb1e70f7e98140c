/** A shop assistant with the Vercel AI SDK: its agent loop, streaming, through the Responses API. */
import { createOpenAI } from "@ai-sdk/openai";
import * as ai from "ai";
import { getPrice, multiply, parameters, systemPrompt } from "../shop.mjs";

const { jsonSchema, tool, ToolLoopAgent } = ai;
// AI SDK 7 has renamed it.
// oxlint-disable-next-line import/namespace
const stopAfter = ai.isStepCount ?? ai.stepCountIs;

export async function agent(task, { baseUrl, apiKey, model, signal }) {
  const openai = createOpenAI({ baseURL: baseUrl, apiKey }); // changed
  const assistant = new ToolLoopAgent({
    model: openai(model), // changed
    instructions: systemPrompt,
    maxRetries: 0,
    stopWhen: stopAfter(4),
    tools: {
      get_price: tool({
        inputSchema: jsonSchema(parameters.get_price),
        execute: ({ item }) => getPrice(task.metadata, item),
      }),
      multiply: tool({
        inputSchema: jsonSchema(parameters.multiply),
        execute: ({ a, b }) => multiply(a, b),
      }),
    },
  });
  const result = await assistant.stream({ prompt: task.instruction, abortSignal: signal });
  return await result.text;
}
