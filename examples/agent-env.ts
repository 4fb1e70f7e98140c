/** An agent in an environment, as in a game: observations in, actions out, a reward for each step. */
import {
  type Agent,
  AgentTrainer,
  type Environment,
  type ModelOutput,
  type WireMessage,
} from "agent-trainer";
import { config, opening, tasks, tool, trainAndPrint } from "./shared/prices.ts";

interface Action {
  readonly name: string | undefined;
  readonly item: unknown;
}

class Assistant implements Agent<string, Action> {
  readonly chatCompletions: WireMessage[] = [];
  readonly callOptions = { tools: [tool] };

  updateFromEnv(observation: string): void {
    if (this.chatCompletions.length === 0) this.chatCompletions.push(...opening(observation));
    else this.chatCompletions.push({ role: "user", content: observation });
  }

  updateFromModel(_text: string, { message, toolCalls }: ModelOutput): Action {
    this.chatCompletions.push(message);
    const call = toolCalls[0]?.function;
    const { item } = JSON.parse(call?.arguments ?? "{}") as { item?: unknown };
    return { name: call?.name, item };
  }
}

class Shop implements Environment<string, Action> {
  readonly #item: string;
  /** Created from the task's metadata and `envArgs`. */
  constructor({ item }: { readonly item: string }) {
    this.#item = item;
  }
  reset() {
    return { observation: `How much do 3 ${this.#item}s cost?` };
  }
  step({ name, item }: Action) {
    const reward = name === "get_price" ? (item === this.#item ? 1 : 0.5) : 0;
    return { observation: "Thank you.", reward, done: true };
  }
}

await trainAndPrint(
  new AgentTrainer({ config, trainDataset: tasks, agentClass: Assistant, envClass: Shop }),
);
