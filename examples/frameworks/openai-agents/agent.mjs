/** A shop assistant with the OpenAI Agents SDK, streaming, through the Responses API. */
import {
  Agent,
  MaxTurnsExceededError,
  ModelBehaviorError,
  OpenAIProvider,
  Runner,
  tool,
} from "@openai/agents";
import { getPrice, multiply, parameters, questionsOf, systemPrompt } from "../shop.mjs";

const open = (name) => ({ ...parameters[name], required: [], additionalProperties: true });

export async function agent(task, { baseUrl, apiKey, model, signal }) {
  const of = (name, execute) =>
    tool({ name, description: "", strict: false, parameters: open(name), execute });
  const assistant = new Agent({
    name: "Shop assistant",
    instructions: systemPrompt,
    model, // changed
    tools: [
      of("get_price", ({ item }) => getPrice(task.metadata, item)),
      of("multiply", ({ a, b }) => multiply(a, b)),
    ],
  });
  const modelProvider = new OpenAIProvider({ baseURL: baseUrl, apiKey }); // changed
  const runner = new Runner({ modelProvider, tracingDisabled: true }); // changed
  let items = [];
  let output = "";
  try {
    for (const question of questionsOf(task)) {
      const result = await runner.run(assistant, [...items, { role: "user", content: question }], {
        maxTurns: 4,
        stream: true,
        signal,
      });
      await result.completed;
      output = result.finalOutput ?? "";
      items = result.history;
    }
    return output;
  } catch (error) {
    // The model called a tool that there is not, or used all turns.
    if (error instanceof ModelBehaviorError || error instanceof MaxTurnsExceededError) return "";
    throw error;
  }
}
