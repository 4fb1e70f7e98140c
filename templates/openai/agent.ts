/** A shop assistant with the OpenAI SDK. Only `baseURL` and `apiKey` are special. */
import type { AgentConfig, Task } from "agent-trainer";
import OpenAI from "openai";
import { getPrice, multiply } from "./tools.ts";

const tools: OpenAI.ChatCompletionTool[] = [
  tool("get_price", { item: { type: "string" } }),
  tool("multiply", { a: { type: "number" }, b: { type: "number" } }),
];

function tool(name: string, properties: object): OpenAI.ChatCompletionTool {
  return { type: "function", function: { name, parameters: { type: "object", properties } } };
}

export async function agent(task: Task, config: AgentConfig): Promise<string> {
  const client = new OpenAI({ baseURL: config.baseUrl, apiKey: config.apiKey, maxRetries: 0 });
  const messages: OpenAI.ChatCompletionMessageParam[] = [
    { role: "system", content: "You are a shop assistant." },
    { role: "user", content: task.instruction },
  ];
  for (let turn = 0; turn < 4; turn++) {
    const completion = await client.chat.completions.create(
      { model: config.model, messages, tools },
      { signal: config.signal },
    );
    const message = completion.choices[0]!.message;
    messages.push(message);
    if (!message.tool_calls?.length) return message.content ?? "";
    for (const call of message.tool_calls) {
      if (call.type !== "function") continue;
      const content = runTool(call.function.name, call.function.arguments);
      messages.push({ role: "tool", tool_call_id: call.id, content });
    }
  }
  return "";
}

function runTool(name: string, text: string): string {
  try {
    const input = JSON.parse(text) as Record<string, unknown>;
    if (name === "multiply") return multiply(input["a"], input["b"]);
    return getPrice(input["item"]);
  } catch {
    return "error: arguments are not JSON";
  }
}
