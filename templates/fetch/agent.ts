/** A shop assistant without any SDK: Chat Completions with `fetch`. */
import type { AgentConfig, Task } from "agent-trainer";
import { getPrice, multiply } from "./tools.ts";

interface Message {
  role: string;
  content: string | null;
  tool_calls?: { id: string; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
}

const tools = [
  tool("get_price", { item: { type: "string" } }),
  tool("multiply", { a: { type: "number" }, b: { type: "number" } }),
];

function tool(name: string, properties: object): object {
  return { type: "function", function: { name, parameters: { type: "object", properties } } };
}

export async function agent(task: Task, config: AgentConfig): Promise<string> {
  const messages: Message[] = [
    { role: "system", content: "You are a shop assistant." },
    { role: "user", content: task.instruction },
  ];
  for (let turn = 0; turn < 4; turn++) {
    const message = await complete(messages, config);
    messages.push(message);
    if (!message.tool_calls?.length) return message.content ?? "";
    for (const call of message.tool_calls) {
      const content = runTool(call.function.name, call.function.arguments);
      messages.push({ role: "tool", tool_call_id: call.id, content });
    }
  }
  return "";
}

async function complete(messages: Message[], config: AgentConfig): Promise<Message> {
  const response = await fetch(`${config.baseUrl}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${config.apiKey}` },
    body: JSON.stringify({ model: config.model, messages, tools }),
    signal: config.signal,
  });
  if (!response.ok) throw new Error(`HTTP ${response.status}: ${await response.text()}`);
  const { choices } = (await response.json()) as { choices: [{ message: Message }] };
  return choices[0].message;
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
