/** A shop assistant with the OpenAI Agents SDK. Only the provider's client is special. */
import {
  Agent,
  MaxTurnsExceededError,
  ModelBehaviorError,
  OpenAIProvider,
  Runner,
  setTracingDisabled,
  tool,
} from "@openai/agents";
import type { AgentConfig, Task } from "agent-trainer";
import { getPrice, multiply } from "./tools.ts";

// Traces would be sent to api.openai.com.
setTracingDisabled(true);

/** What the schemas below describe; the model may send anything. */
type Input = Record<string, unknown>;

export async function agent(task: Task, config: AgentConfig): Promise<string> {
  const assistant = new Agent({
    name: "Shop assistant",
    instructions: "You are a shop assistant.",
    model: config.model,
    tools: [
      tool({
        name: "get_price",
        description: "",
        strict: false,
        parameters: parameters({ item: { type: "string" } }),
        execute: (input) => getPrice((input as Input)["item"]),
      }),
      tool({
        name: "multiply",
        description: "",
        strict: false,
        parameters: parameters({ a: { type: "number" }, b: { type: "number" } }),
        execute: (input) => multiply((input as Input)["a"], (input as Input)["b"]),
      }),
    ],
  });
  // A runner of this rollout: the client that setDefaultOpenAIClient sets is one for all of them.
  const modelProvider = new OpenAIProvider({ baseURL: config.baseUrl, apiKey: config.apiKey });
  const runner = new Runner({ modelProvider });
  try {
    const { signal } = config;
    const result = await runner.run(assistant, task.instruction, { maxTurns: 4, signal });
    return result.finalOutput ?? "";
  } catch (error) {
    // The model called an unknown tool, or used all turns: no result, and no reward.
    if (error instanceof ModelBehaviorError || error instanceof MaxTurnsExceededError) return "";
    throw error;
  }
}

function parameters(properties: Record<string, { type: string }>) {
  return { type: "object" as const, properties, required: [], additionalProperties: true as const };
}
