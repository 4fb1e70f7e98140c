/** A shop assistant with two tools, written with the official OpenAI SDK. Only `baseURL` is special. */
import type { AgentConfig, Task } from "agent-trainer";
import OpenAI from "openai";
import type { ShopTask } from "./tasks.ts";

export const systemPrompt = "You are a shop assistant.";
export const tools: OpenAI.ChatCompletionTool[] = [
  tool("get_price", { item: { type: "string" } }),
  tool("multiply", { a: { type: "number" }, b: { type: "number" } }),
];

export async function agent(task: Task<ShopTask>, config: AgentConfig): Promise<string> {
  const client = new OpenAI({ baseURL: config.baseUrl, apiKey: config.apiKey, maxRetries: 0 });
  const messages: OpenAI.ChatCompletionMessageParam[] = [
    { role: "system", content: systemPrompt },
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
      messages.push({ role: "tool", tool_call_id: call.id, content: runTool(task, call) });
    }
  }
  return "I could not find out.";
}

function runTool(task: Task<ShopTask>, call: OpenAI.ChatCompletionMessageToolCall): string {
  if (call.type !== "function") return "error: unknown kind of tool";
  try {
    const input = JSON.parse(call.function.arguments) as { item?: string; a?: number; b?: number };
    if (call.function.name === "multiply") return String(Number(input.a) * Number(input.b));
    return input.item === task.metadata.item ? String(task.metadata.price) : "error: no such item";
  } catch {
    return "error: arguments are not JSON";
  }
}

function tool(name: string, properties: Record<string, unknown>): OpenAI.ChatCompletionTool {
  return { type: "function", function: { name, parameters: { type: "object", properties } } };
}
