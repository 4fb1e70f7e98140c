/** Environments written as classes with `reset` and `step`, as a source that can be trained on or served. */
import type {
  EnvironmentEpisode,
  EnvironmentResult,
  EnvironmentSource,
  EnvironmentTool,
  PromptMessage,
  TaskRange,
} from "../core/environment.ts";
import { ConfigError } from "../core/errors.ts";
import type { Task, TaskRow } from "../core/task.ts";
import { toTask } from "../datasets/tasks/task.ts";
import {
  checkStep,
  make,
  type Environment,
  type Maker,
} from "../rollouts/workflow/agent-environment.ts";
import { jsonText } from "./episode/json-text.ts";

/** What `step` receives for a tool call. */
export interface ToolAction {
  /** Name of the tool. */
  readonly name: string;
  /** What the model passed, as parsed JSON. */
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** Options of {@link defineEnvironment}. */
export interface ClassEnvironmentOptions {
  /** Name on the wire: letters, digits, "-" and "_". */
  readonly name: string;
  /**
   * The class. It receives the task's metadata and `envArgs`; its observations are what the model sees: a
   * string, or anything else as JSON. Actions are a {@link ToolAction}, or the text of a response.
   */
  readonly envClass: Maker<Environment>;
  /** Rows or tasks by the name of their split: `{ train: [...], test: [...] }`. */
  readonly tasks: Readonly<Record<string, readonly (Task | TaskRow)[]>>;
  /** Tools of the model. @default none: the model's text is the action */
  readonly tools?: readonly EnvironmentTool[];
  /** Arguments of the class, in addition to the task's metadata. @default {} */
  readonly envArgs?: object;
}

/**
 * An environment class with its tasks and tools as an {@link EnvironmentSource}: pass it as `env`.
 *
 * @throws ConfigError for a name that cannot be part of a URL.
 */
export function defineEnvironment(options: ClassEnvironmentOptions): ClassSource {
  if (!/^[\w-]+$/u.test(options.name)) {
    throw new ConfigError({
      message: `defineEnvironment() was given the name ${JSON.stringify(options.name)}.`,
      hint: 'Use letters, digits, "-" and "_".',
      fields: { name: options.name },
    });
  }
  return new ClassSource(options);
}

/** An environment class with its tasks and tools. Returned by {@link defineEnvironment}. */
export class ClassSource implements EnvironmentSource {
  readonly name: string;
  /** Names of the splits. */
  readonly splits: readonly string[];
  /** Tools of every task. */
  readonly tools: readonly EnvironmentTool[];
  readonly #options: ClassEnvironmentOptions;

  /** Use {@link defineEnvironment}. */
  constructor(options: ClassEnvironmentOptions) {
    this.#options = options;
    this.name = options.name;
    this.splits = Object.keys(options.tasks);
    this.tools = options.tools ?? [];
  }

  // oxlint-disable-next-line require-await
  async *tasks(
    split: string,
    { start = 0, stop = Infinity }: TaskRange = {},
  ): AsyncGenerator<Task> {
    const rows = this.#options.tasks[split];
    if (rows === undefined) {
      throw new ConfigError({
        message: `The environment ${this.name} has no split "${split}"; it has ${this.splits.join(", ")}.`,
        fields: { split, splits: this.splits },
      });
    }
    yield* rows.slice(start, stop).map((row, i) => toTask(row, start + i));
  }

  async open(task: Task): Promise<EnvironmentEpisode> {
    const { envClass, envArgs } = this.#options;
    const env = await make(envClass, { ...(task.metadata as object), ...envArgs });
    const { observation } = await env.reset();
    const prompt = [{ role: "user", content: textOf(observation) }];
    return this.tools.length === 0
      ? new TextEpisode(env, prompt, [])
      : new ToolEpisode(env, prompt, this.tools);
  }
}

class ToolEpisode implements EnvironmentEpisode {
  readonly prompt: readonly PromptMessage[];
  readonly tools: readonly EnvironmentTool[];
  readonly #env: Environment;
  #isClosed = false;

  constructor(
    env: Environment,
    prompt: readonly PromptMessage[],
    tools: readonly EnvironmentTool[],
  ) {
    this.#env = env;
    this.prompt = prompt;
    this.tools = tools;
  }

  async call(name: string, args: Readonly<Record<string, unknown>>): Promise<EnvironmentResult> {
    return await this.step({ name, arguments: args });
  }

  /** An error of the class fails the episode, as it does in an agent's own loop. */
  protected async step(action: ToolAction | string): Promise<EnvironmentResult> {
    const { observation, reward, done } = checkStep(await this.#env.step(action));
    return { text: textOf(observation), reward, done };
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await (async () => await this.#env.close?.())().catch(() => {});
  }
}

/** The model's text is the action. */
class TextEpisode extends ToolEpisode {
  async respond(text: string): Promise<EnvironmentResult> {
    return await this.step(text);
  }
}

const textOf = (observation: unknown): string =>
  typeof observation === "string" ? observation : jsonText(observation);
