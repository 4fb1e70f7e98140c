/** A few conversations that show how a question of the shop is answered: look up, multiply, answer. */
import { systemPrompt, tools } from "../shop/agent.ts";
import { makeTasks } from "../shop/tasks.ts";

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

/** In OpenAI's format, as the rows of a .jsonl file would be. */
export const demonstrations: readonly object[] = makeTasks("demonstrations", 8).map((task) => {
  const { item, count, price, answer } = task.metadata;
  return {
    messages: [
      { role: "system", content: systemPrompt },
      { role: "user", content: task.instruction },
      call("get_price", { item }),
      result("get_price", price),
      call("multiply", { a: count, b: price }),
      result("multiply", answer),
      { role: "assistant", content: String(answer) },
    ],
    tools,
  };
});
