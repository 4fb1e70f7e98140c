/** A shop assistant with the openai package: its runner of tools, streaming. */
import OpenAI from "openai";
import { getPrice, multiply, parameters, questionsOf, systemPrompt } from "../shop.mjs";

export async function agent(task, { baseUrl, apiKey, model, signal }) {
  const client = new OpenAI({ baseURL: baseUrl, apiKey, maxRetries: 0 }); // changed
  const tool = (name, run) => ({
    type: "function",
    function: { name, function: run, parse: JSON.parse, parameters: parameters[name] },
  });
  const tools = [
    tool("get_price", ({ item }) => getPrice(task.metadata, item)),
    tool("multiply", ({ a, b }) => multiply(a, b)),
  ];
  let messages = [{ role: "system", content: systemPrompt }];
  let text = "";
  for (const question of questionsOf(task)) {
    messages.push({ role: "user", content: question });
    const runner = client.chat.completions.runTools(
      { model, stream: true, messages, tools }, // changed
      { signal, maxChatCompletions: 4 },
    );
    text = await runner.finalContent();
    messages = [...runner.messages];
  }
  return text;
}
