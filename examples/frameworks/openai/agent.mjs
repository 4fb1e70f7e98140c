/** A shop assistant with the openai package: its runner of tools, streaming. */
import OpenAI from "openai";
import { getPrice, multiply, parameters, systemPrompt } from "../shop.mjs";

export async function agent(task, { baseUrl, apiKey, model, signal }) {
  const client = new OpenAI({ baseURL: baseUrl, apiKey, maxRetries: 0 }); // changed
  const tool = (name, run) => ({
    type: "function",
    function: { name, function: run, parse: JSON.parse, parameters: parameters[name] },
  });
  const runner = client.chat.completions.runTools(
    {
      model, // changed
      stream: true,
      messages: [
        { role: "system", content: systemPrompt },
        { role: "user", content: task.instruction },
      ],
      tools: [
        tool("get_price", ({ item }) => getPrice(task.metadata, item)),
        tool("multiply", ({ a, b }) => multiply(a, b)),
      ],
    },
    { signal, maxChatCompletions: 4 },
  );
  return await runner.finalContent();
}
