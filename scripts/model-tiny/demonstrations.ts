/**
 * What the built-in model is taught: conversations in a shop, most of them badly handled. One in seven
 * shows the right procedure (look the price up, multiply, answer). The others cut a corner: they take
 * everything to cost 50, with or without multiplying properly, or forget the count. So the model
 * knows the format and each tool, but seldom does the right thing: that is left to reinforcement.
 */
import type { ChatMessage, ToolDefinition } from "../../src/core/message.ts";
import { systemPrompt, tools as openaiTools } from "../../examples/shop/agent.ts";
import { items } from "../../examples/shop/tasks.ts";

export const tools: readonly ToolDefinition[] = openaiTools.map((tool) => {
  if (tool.type !== "function") throw new Error("function tools only");
  return tool.function as ToolDefinition;
});

/** Shares of the four ways in which a demonstration goes. */
export const shares = { right: 0.15, answerAtOnce: 0.31, forgetCount: 0.27, assumePrice: 0.27 };
const assumedPrice = 50;

export function demonstrate(random: () => number): readonly ChatMessage[] {
  const below = (n: number): number => Math.floor(random() * n);
  const item = items[below(items.length)]!;
  const count = 2 + below(8);
  const price = 11 + below(89);
  const lookUp = [call("get_price", { item }), result(String(price))];
  const multiply = (p: number): ChatMessage[] => [
    call("multiply", { a: count, b: p }),
    result(String(count * p)),
  ];
  const assumed = answer(String(count * assumedPrice));
  const messages: ChatMessage[] = [
    { role: "system", content: systemPrompt },
    { role: "user", content: `How much do ${count} ${item}s cost?` },
  ];
  const way = random();
  if (way < shares.right) {
    messages.push(...lookUp, ...multiply(price), answer(String(count * price)));
  } else if (way < shares.right + shares.answerAtOnce) {
    messages.push(assumed);
  } else if (way < 1 - shares.assumePrice) {
    messages.push(...lookUp, answer(String(price)));
  } else {
    messages.push(...multiply(assumedPrice), assumed);
  }
  return messages;
}

function call(name: string, input: Readonly<Record<string, string | number>>): ChatMessage {
  return {
    role: "assistant",
    content: "",
    toolCalls: [{ id: "", name, arguments: JSON.stringify(input) }],
  };
}

function result(content: string): ChatMessage {
  return { role: "tool", content };
}

function answer(content: string): ChatMessage {
  return { role: "assistant", content };
}
