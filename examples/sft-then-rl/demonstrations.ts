/** A few conversations that show how a question of the shop is answered: look up, multiply, answer. */
import { systemPrompt, tools } from "../shop/agent.ts";
import type { Task } from "agent-trainer";
import { makeTasks, type ShopTask } from "../shop/tasks.ts";

function call(name: string, input: Record<string, string | number>): object {
  const asked = { name, arguments: JSON.stringify(input) };
  return {
    role: "assistant",
    content: null,
    tool_calls: [{ id: name, type: "function", function: asked }],
  };
}

const result = (name: string, value: number): object => ({
  role: "tool",
  tool_call_id: name,
  content: String(value),
});

/** A conversation for each task in OpenAI's format, as the rows of a .jsonl file would be. */
export const demonstrate = (tasks: readonly Task<ShopTask>[]): object[] =>
  tasks.map(({ instruction, metadata: { item, count, price, answer } }) => ({
    messages: [
      { role: "system", content: systemPrompt },
      { role: "user", content: instruction },
      call("get_price", { item }),
      result("get_price", price),
      call("multiply", { a: count, b: price }),
      result("multiply", answer),
      { role: "assistant", content: String(answer) },
    ],
    tools,
  }));

export const demonstrations: readonly object[] = demonstrate(makeTasks("demonstrations", 8));
