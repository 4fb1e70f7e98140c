/** A shop as an environment: prices are looked up with a tool, and the right lookup is rewarded. */
import { defineEnvironment, type ToolAction } from "agent-trainer/environments";
import type { Environment } from "agent-trainer";

const items = ["mug", "plate", "clock", "shirt", "pen", "book", "hat", "desk"];

class Shop implements Environment<string, ToolAction> {
  readonly #item: string;
  /** Created from the task's row. */
  constructor({ item }: { readonly item: string }) {
    this.#item = item;
  }
  reset() {
    return { observation: `How much do 3 ${this.#item}s cost?` };
  }
  step({ arguments: { item } }: ToolAction) {
    const isRight = item === this.#item;
    return {
      observation: isRight ? "7 euros" : "unknown item",
      reward: isRight ? 1 : 0.5,
      done: true,
    };
  }
}

export const shop = defineEnvironment({
  name: "shop",
  envClass: Shop,
  tasks: { train: items.map((item) => ({ instruction: `How much do 3 ${item}s cost?`, item })) },
  tools: [
    {
      name: "get_price",
      description: "Price of an item",
      parameters: { type: "object", properties: { item: { type: "string" } } },
    },
  ],
});
