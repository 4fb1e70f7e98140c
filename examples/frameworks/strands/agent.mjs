/** A shop assistant with Strands, streaming. */
import { Agent, tool } from "@strands-agents/sdk";
import { OpenAIModel } from "@strands-agents/sdk/models/openai";
import { getPrice, multiply, parameters, questionsOf, systemPrompt } from "../shop.mjs";

export async function agent(task, { baseUrl, apiKey, model: modelId }) {
  const of = (name, callback) =>
    tool({ name, description: name, inputSchema: parameters[name], callback });
  const assistant = new Agent({
    model: new OpenAIModel({
      api: "chat",
      modelId,
      apiKey,
      clientConfig: { baseURL: baseUrl, maxRetries: 0 },
    }), // changed
    systemPrompt,
    printer: false,
    tools: [
      of("get_price", ({ item }) => getPrice(task.metadata, item)),
      of("multiply", ({ a, b }) => multiply(a, b)),
    ],
  });
  let result;
  for (const question of questionsOf(task)) result = await assistant.invoke(question);
  return result.toString();
}
