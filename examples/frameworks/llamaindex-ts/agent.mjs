/** A shop assistant with LlamaIndex.TS: its agent workflow. */
import { OpenAI } from "@llamaindex/openai";
import { agent as createAgent } from "@llamaindex/workflow";
import { tool } from "llamaindex";
import { getPrice, multiply, parameters, questionsOf, systemPrompt } from "../shop.mjs";

export async function agent(task, { baseUrl, apiKey, model }) {
  const llm = new OpenAI({ model, apiKey, baseURL: baseUrl, maxRetries: 0 }); // changed
  const shopTool = (name, execute) =>
    tool({ name, description: name, parameters: parameters[name], execute });
  const assistant = createAgent({
    llm,
    systemPrompt,
    tools: [
      shopTool("get_price", ({ item }) => getPrice(task.metadata, item)),
      shopTool("multiply", ({ a, b }) => multiply(a, b)),
    ],
  });
  let state;
  let output = "";
  for (const question of questionsOf(task)) {
    const { data } = await assistant.run(question, { state });
    output = String(data.result);
    state = data.state;
  }
  return output;
}
