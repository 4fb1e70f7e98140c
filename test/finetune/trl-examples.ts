/** The examples that TRL's golden numbers were made from: conversations with tools, and pairs. */
import { systemPrompt, tools } from "../../examples/shop/agent.ts";
import { makeTasks } from "../../examples/shop/tasks.ts";

const call = (name: string, input: object) => ({
  role: "assistant",
  content: null,
  tool_calls: [
    { id: name, type: "function", function: { name, arguments: JSON.stringify(input) } },
  ],
});

/** The right way to answer `amount` questions of the shop, with both tools. */
export function shopConversations(name: string, amount: number): readonly object[] {
  return makeTasks(name, amount).map(({ instruction, metadata }) => {
    const { item, count, price, answer } = metadata;
    return {
      messages: [
        { role: "system", content: systemPrompt },
        { role: "user", content: instruction },
        call("get_price", { item }),
        { role: "tool", tool_call_id: "get_price", content: String(price) },
        call("multiply", { a: count, b: price }),
        { role: "tool", tool_call_id: "multiply", content: String(answer) },
        { role: "assistant", content: String(answer) },
      ],
      tools,
    };
  });
}

/** To look the price up is chosen, to guess an answer is rejected. */
export function shopPairs(name: string, amount: number): readonly object[] {
  return makeTasks(name, amount).map(({ instruction, metadata: { item, count } }) => ({
    prompt: [
      { role: "system", content: systemPrompt },
      { role: "user", content: instruction },
    ],
    chosen: [call("get_price", { item })],
    rejected: [{ role: "assistant", content: String(count * 50) }],
    tools,
  }));
}

/** The same responses without pairs: one for each question, in turn a good one and a bad one. */
export function shopThumbs(name: string, amount: number): readonly object[] {
  return makeTasks(name, amount).map(({ instruction, metadata: { item, count } }, i) => ({
    messages: [
      { role: "system", content: systemPrompt },
      { role: "user", content: instruction },
      i % 2 === 0
        ? call("get_price", { item })
        : { role: "assistant", content: String(count * 50) },
    ],
    label: i % 2 === 0,
    tools,
  }));
}

/** Options of both trainers: full batches, so that the order of examples does not matter. */
export const trlSettings = {
  examples: 4,
  steps: 3,
  learningRate: 1e-3,
  beta1: 0.9,
  beta2: 0.95,
  eps: 1e-8,
  maxGradNorm: 1,
  dpoBeta: 0.1,
} as const;
