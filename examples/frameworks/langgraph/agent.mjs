/** A shop assistant as a LangGraph graph, streaming. */
import { tool } from "@langchain/core/tools";
import { concat } from "@langchain/core/utils/stream";
import {
  END,
  GraphRecursionError,
  MessagesAnnotation,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { ToolNode, toolsCondition } from "@langchain/langgraph/prebuilt";
import { ChatOpenAI } from "@langchain/openai";
import { getPrice, multiply, parameters, questionsOf, systemPrompt } from "../shop.mjs";

export async function agent(task, { baseUrl, apiKey, model: id, signal }) {
  const tools = [
    tool(({ item }) => getPrice(task.metadata, item), {
      name: "get_price",
      schema: parameters.get_price,
    }),
    tool(({ a, b }) => multiply(a, b), { name: "multiply", schema: parameters.multiply }),
  ];
  const model = new ChatOpenAI({
    model: id, // changed
    apiKey, // changed
    configuration: { baseURL: baseUrl }, // changed
    maxRetries: 0,
  }).bindTools(tools);
  // With `streaming: true` it would count tokens by a vocabulary that it downloads.
  const respond = async (messages) => {
    let message;
    for await (const chunk of await model.stream(messages, { signal }))
      message = message === undefined ? chunk : concat(message, chunk);
    return message;
  };
  const graph = new StateGraph(MessagesAnnotation)
    .addNode("model", async ({ messages }) => ({ messages: [await respond(messages)] }))
    .addNode("tools", new ToolNode(tools))
    .addEdge(START, "model")
    .addConditionalEdges("model", toolsCondition, ["tools", END])
    .addEdge("tools", "model")
    .compile();
  try {
    let messages = [{ role: "system", content: systemPrompt }];
    for (const question of questionsOf(task)) {
      const input = { messages: [...messages, { role: "user", content: question }] };
      ({ messages } = await graph.invoke(input, { recursionLimit: 8, signal }));
    }
    return messages.at(-1)?.text ?? "";
  } catch (error) {
    if (error instanceof GraphRecursionError) return "";
    throw error;
  }
}
