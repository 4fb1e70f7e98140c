/** A family of the Python package reasoning-gym: questions, and a score from 0 to 1 for the response. */
import { z } from "zod";
import type { EnvironmentEpisode, EnvironmentSource, TaskRange } from "../../core/environment.ts";
import { ConfigError } from "../../core/errors.ts";
import type { Task } from "../../core/task.ts";
import { environmentError } from "../episode/environment-error.ts";
import { instructionOf } from "../episode/instruction.ts";
import { PythonBridge } from "../python-bridge.ts";

/** Options of a family of reasoning-gym. */
export interface ReasoningGymOptions {
  /** Name of the family, such as `leg_counting`. */
  readonly family: string;
  /** Options of the family, such as `{ max_animals: 3 }`. @default those of reasoning-gym */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Tasks of each split; fewer where a family has not so many different ones. @default 200 */
  readonly size?: number;
  /** Interpreter with reasoning-gym. @default that of `agent-trainer env setup`, else python3 */
  readonly python?: string;
}

/** The splits are `train` and `test`. */
export class ReasoningGymSource implements EnvironmentSource {
  readonly name: string;
  readonly #bridge: PythonBridge;

  /** @throws ConfigError for a family that is not a name, or a size below 1. */
  constructor({ family, config = {}, size = 200, python }: ReasoningGymOptions) {
    this.name = `reasoning-gym:${family}`;
    if (!/^\w+$/u.test(family) || !Number.isInteger(size) || size < 1) {
      throw new ConfigError({
        message: `The environment ${JSON.stringify(this.name)} has no family, or the size ${size}.`,
        hint: "Write it as in reasoning-gym:leg_counting or reasoning-gym:gcd?max_value=30&size=500.",
        fields: { family, size },
      });
    }
    this.#bridge = new PythonBridge({
      name: this.name,
      python,
      module: "agent_trainer_gym",
      args: [family, "--size", String(size), "--config", JSON.stringify(config)],
      needs: "reasoning_gym",
      setup: "Run: agent-trainer env setup reasoning-gym",
    });
  }

  async *tasks(split: string, range: TaskRange = {}, signal?: AbortSignal): AsyncGenerator<Task> {
    const { start = 0, stop = Infinity } = range;
    const all = await this.#bridge.request("tasks", { split }, z.array(z.string()), signal);
    for (const [i, question] of all.slice(start, stop).entries()) {
      yield {
        id: `${split}/${start + i}`,
        instruction: instructionOf({ question }),
        metadata: { split, question },
      };
    }
  }

  async open({ id, metadata }: Task): Promise<EnvironmentEpisode> {
    const { split, question } = metadata;
    if (typeof split !== "string" || typeof question !== "string") {
      throw environmentError(
        `Task "${id}" is not one of ${this.name}: it has no metadata.split and metadata.question.`,
        { isFinal: true, hint: "Take the tasks from the environment: remove dataset.train." },
      );
    }
    return {
      prompt: [{ role: "user", content: question }],
      tools: [],
      call: async (tool) => ({ text: `There is no tool "${tool}".`, isError: true }),
      respond: async (response, signal) => {
        const fields = { split, question, response };
        const reward = await this.#bridge.request("score", fields, z.number(), signal);
        return { text: "", reward, done: true };
      },
      close: async () => {},
    };
  }

  async close(): Promise<void> {
    await this.#bridge.close();
  }
}
