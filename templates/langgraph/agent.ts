/** A shop assistant as a LangGraph graph. Only `baseURL` and `apiKey` of the chat model are special. */
import { tool } from "@langchain/core/tools";
import {
  END,
  GraphRecursionError,
  MessagesAnnotation,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { ToolNode, toolsCondition } from "@langchain/langgraph/prebuilt";
import { ChatOpenAI } from "@langchain/openai";
import type { AgentConfig, Task } from "agent-trainer";
import { getPrice, multiply } from "./tools.ts";

/** What the schemas below describe; the model may send anything. */
type Input = Record<string, unknown>;

export async function agent(task: Task, config: AgentConfig): Promise<string> {
  const tools = [
    tool((input) => getPrice((input as Input)["item"]), {
      name: "get_price",
      schema: { type: "object", properties: { item: { type: "string" } } },
    }),
    tool((input) => multiply((input as Input)["a"], (input as Input)["b"]), {
      name: "multiply",
      schema: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } },
    }),
  ];
  const model = new ChatOpenAI({
    model: config.model,
    apiKey: config.apiKey,
    // Set here, it wins over OPENAI_BASE_URL and OPENAI_API_BASE of your environment.
    configuration: { baseURL: config.baseUrl },
    maxRetries: 0,
  }).bindTools(tools);

  const graph = new StateGraph(MessagesAnnotation)
    .addNode("model", async ({ messages }) => ({
      messages: [await model.invoke(messages, { signal: config.signal })],
    }))
    .addNode("tools", new ToolNode(tools))
    .addEdge(START, "model")
    .addConditionalEdges("model", toolsCondition, ["tools", END])
    .addEdge("tools", "model")
    .compile();
  try {
    const { messages } = await graph.invoke(
      {
        messages: [
          { role: "system", content: "You are a shop assistant." },
          { role: "user", content: task.instruction },
        ],
      },
      // Four answers of the model, with tools in between.
      { recursionLimit: 8, signal: config.signal },
    );
    return messages.at(-1)?.text ?? "";
  } catch (error) {
    if (error instanceof GraphRecursionError) return "";
    throw error;
  }
}
