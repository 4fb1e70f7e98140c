/** Environments of the Python package verifiers: tasks from there, and episodes that their own agents play. */
import { z } from "zod";
import type {
  EnvironmentEpisode,
  EnvironmentSource,
  EpisodeOutcome,
  ModelAddress,
  TaskRange,
} from "../../core/environment.ts";
import { ConfigError } from "../../core/errors.ts";
import type { Task } from "../../core/task.ts";
import { environmentError } from "../episode/environment-error.ts";
import { instructionOf } from "../episode/instruction.ts";
import { PythonBridge } from "../python-bridge.ts";

/** Options of an environment of verifiers. */
export interface VerifiersOptions {
  /** Name of an installed taskset, such as `gsm8k-v1`. */
  readonly taskset: string;
  /**
   * Fields of the environment's configuration: `{ agent: { harness: { id: "bash" } }, taskset: { ... } }`.
   * @default agents run on this machine, in a loop over the chat API where the taskset has no program
   */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Interpreter of an environment with verifiers. @default that of `agent-trainer env setup`, else python3 */
  readonly python?: string;
}

const pageSize = 1000;

const taskList = z.array(z.object({ data: z.record(z.string(), z.unknown()), text: z.string() }));
const outcome = z.object({
  reward: z.number(),
  rewards: z.record(z.string(), z.number()),
  metrics: z.record(z.string(), z.number()),
  stop: z.array(z.string().nullable()),
});

/** An environment of verifiers, in a Python process. */
export class VerifiersSource implements EnvironmentSource {
  readonly name: string;
  readonly bringsAgent = true;
  readonly #bridge: PythonBridge;

  constructor({ taskset, config = {}, python }: VerifiersOptions) {
    if (taskset.trim() === "") {
      throw new ConfigError({
        message: 'The environment "verifiers:" names no taskset.',
        hint: "Write it as in verifiers:gsm8k-v1, with the name of an installed package.",
      });
    }
    this.name = `verifiers:${taskset}`;
    this.#bridge = new PythonBridge({
      name: this.name,
      python,
      module: "agent_trainer_verifiers",
      args: [taskset, JSON.stringify(config)],
      needs: "verifiers",
      setup: "Run: agent-trainer env setup",
    });
  }

  async *tasks(split: string, range: TaskRange = {}, signal?: AbortSignal): AsyncGenerator<Task> {
    const { start = 0, stop = Infinity } = range;
    for (let from = start; from < stop; from += pageSize) {
      const to = Math.min(from + pageSize, stop);
      // Pages follow each other: a taskset may be endless.
      // oxlint-disable-next-line no-await-in-loop
      const page = await this.#bridge.request(
        "tasks",
        { split, start: from, stop: to },
        taskList,
        signal,
      );
      for (const [i, { data, text }] of page.entries()) {
        yield {
          id: `${split}/${from + i}`,
          instruction: text.trim() === "" ? instructionOf(data) : text,
          metadata: { ...data, verifiers: data },
        };
      }
      if (page.length < to - from) return;
    }
  }

  async open(task: Task): Promise<EnvironmentEpisode> {
    const data = task.metadata["verifiers"];
    if (data === undefined) {
      throw environmentError(
        `Task "${task.id}" is not one of ${this.name}: it has no metadata.verifiers.`,
        { isFinal: true, hint: "Take the tasks from the environment: remove dataset.train." },
      );
    }
    return {
      prompt: [{ role: "user", content: task.instruction }],
      tools: [],
      call: async (tool) => ({ text: `There is no tool "${tool}".`, isError: true }),
      play: async ({ baseUrl, apiKey, model }: ModelAddress, signal): Promise<EpisodeOutcome> => {
        const fields = { task: data, base_url: baseUrl, api_key: apiKey, model };
        const { reward, rewards, metrics } = await this.#bridge.request(
          "run",
          fields,
          outcome,
          signal,
        );
        return { reward, signals: { ...metrics, ...rewards } };
      },
      close: async () => {},
    };
  }

  async close(): Promise<void> {
    await this.#bridge.close();
  }
}
