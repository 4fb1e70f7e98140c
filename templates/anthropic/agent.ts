/** A shop assistant with Anthropic's SDK. Only `baseURL` and `apiKey` are special. */
import Anthropic from "@anthropic-ai/sdk";
import type { AgentConfig, Task } from "agent-trainer";
import { getPrice, multiply } from "./tools.ts";

const tools: Anthropic.Tool[] = [
  tool("get_price", { item: { type: "string" } }),
  tool("multiply", { a: { type: "number" }, b: { type: "number" } }),
];

function tool(name: string, properties: object): Anthropic.Tool {
  return { name, input_schema: { type: "object", properties } };
}

export async function agent(task: Task, config: AgentConfig): Promise<string> {
  const client = new Anthropic({
    // This SDK adds /v1 itself.
    baseURL: config.baseUrl.replace(/\/v1$/, ""),
    apiKey: config.apiKey,
    // Otherwise ANTHROPIC_AUTH_TOKEN of your environment would be sent, too.
    authToken: null,
    maxRetries: 0,
  });
  const messages: Anthropic.MessageParam[] = [{ role: "user", content: task.instruction }];
  for (let turn = 0; turn < 4; turn++) {
    const { content } = await client.messages.create(
      {
        model: config.model,
        max_tokens: 1024,
        system: "You are a shop assistant.",
        messages,
        tools,
      },
      { signal: config.signal },
    );
    messages.push({ role: "assistant", content });
    const calls = content.filter((block) => block.type === "tool_use");
    if (calls.length === 0) {
      return content.map((block) => (block.type === "text" ? block.text : "")).join("");
    }
    messages.push({
      role: "user",
      content: calls.map(({ id, name, input }) => ({
        type: "tool_result" as const,
        tool_use_id: id,
        content: runTool(name, input as Record<string, unknown>),
      })),
    });
  }
  return "";
}

function runTool(name: string, input: Record<string, unknown>): string {
  if (name === "multiply") return multiply(input["a"], input["b"]);
  return getPrice(input["item"]);
}
