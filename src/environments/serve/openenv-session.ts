/** One OpenEnv session: an episode at a time, its messages, and its tools as JSON-RPC. */
import { randomUUID } from "node:crypto";
import { z } from "zod";
import type {
  EnvironmentEpisode,
  EnvironmentResult,
  PromptMessage,
} from "../../core/environment.ts";
import type { Task } from "../../core/task.ts";
import { type ServedSource, taskOfSpec } from "./served-source.ts";

type Fields = Readonly<Record<string, unknown>>;

const message = z.object({
  type: z.string(),
  data: z.record(z.string(), z.unknown()).default({}),
});

/** What went wrong, with OpenEnv's code of it. */
class Refusal extends Error {
  readonly code: string;
  constructor(code: string, text: string) {
    super(text);
    this.code = code;
  }
}

/** JSON Schema of an action: a call of a tool, or one text. */
export function actionSchema({ tools }: ServedSource): Fields {
  const properties: Fields =
    tools.length === 0
      ? { message: { type: "string", description: "What is said to the environment." } }
      : {
          type: { const: "call_tool", type: "string" },
          tool_name: { type: "string", enum: tools.map(({ name }) => name) },
          arguments: { type: "object" },
        };
  return { type: "object", properties, required: Object.keys(properties) };
}

/** A response in JSON-RPC. */
export const rpcResult = (id: unknown, result: object): object => ({ jsonrpc: "2.0", id, result });
export const rpcError = (id: unknown, code: number, text: string): object => ({
  jsonrpc: "2.0",
  id,
  error: { code, message: text },
});

/** What a socket, or a client of the route `/mcp`, plays with. */
export class OpenEnvSession {
  /** When a client was last heard of, in milliseconds. */
  seenAt: number = Date.now();
  /** Whether a socket has it. */
  isAttached = false;
  readonly #source: ServedSource;
  readonly #stop = new AbortController();
  #episode: EnvironmentEpisode | null = null;
  #id = "";
  #steps = 0;
  #isDone = false;
  #last: Promise<unknown> = Promise.resolve();

  constructor(source: ServedSource) {
    this.#source = source;
  }

  /** The response to a message of the socket. */
  async answer(text: string): Promise<object> {
    return await this.#inTurn(() => this.#answer(text));
  }

  /** Tools for clients that speak JSON-RPC, within the socket or over HTTP: calls without rewards. */
  async rpc(call: Fields): Promise<object> {
    return await this.#inTurn(() => this.#rpc(call));
  }

  /** An episode takes one call at a time, and a socket and `/mcp` may share it. `run` must not reject. */
  async #inTurn<T>(run: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(run);
    this.#last = mine;
    return await mine;
  }

  async #answer(text: string): Promise<object> {
    try {
      const read = message.safeParse(parse(text));
      if (!read.success) throw new Refusal("INVALID_JSON", z.prettifyError(read.error));
      return await this.#handle(read.data.type, read.data.data);
    } catch (error) {
      const code = error instanceof Refusal ? error.code : "EXECUTION_ERROR";
      const what = error instanceof Error ? error.message : String(error);
      return { type: "error", data: { message: what, code } };
    }
  }

  async close(): Promise<void> {
    this.#stop.abort(new Error("The connection was closed."));
    await this.#episode?.close();
  }

  async #handle(type: string, data: Fields): Promise<object> {
    if (type === "reset") return await this.#reset(data);
    if (type === "step") return await this.#step(data);
    if (type === "state") {
      return { type: "state", data: { episode_id: this.#id, step_count: this.#steps } };
    }
    if (type === "mcp") return { type: "mcp", data: await this.#rpc(data) };
    throw new Refusal("UNKNOWN_TYPE", `There is no message type "${type}".`);
  }

  async #reset({ seed = 0, episode_id: id, split = "train", ...spec }: Fields): Promise<object> {
    await this.#episode?.close();
    this.#episode = null;
    const task = Object.keys(spec).length > 0 ? taskOfSpec(spec) : await this.#task(seed, split);
    this.#episode = await this.#source.open(task, { signal: this.#stop.signal });
    this.#id = typeof id === "string" ? id : randomUUID();
    this.#steps = 0;
    this.#isDone = false;
    const said = this.#episode.prompt.map(({ content }: PromptMessage) =>
      typeof content === "string" ? content : JSON.stringify(content),
    );
    return observation({ message: said.join("\n\n") }, {});
  }

  /** The seed is the position of the task, beginning anew after the last one. */
  async #task(seed: unknown, split: unknown): Promise<Task> {
    if (typeof seed !== "number" || !Number.isSafeInteger(seed) || seed < 0) {
      throw new Refusal("VALIDATION_ERROR", "seed must be a whole number from 0 on.");
    }
    if (typeof split !== "string" || !this.#source.splits.includes(split)) {
      throw new Refusal("VALIDATION_ERROR", `There is no split "${String(split)}".`);
    }
    const tasks: Task[] = [];
    for await (const task of this.#source.tasks(split, {}, this.#stop.signal)) tasks.push(task);
    const task = tasks[seed % tasks.length];
    if (task === undefined) throw new Refusal("VALIDATION_ERROR", `"${split}" has no tasks.`);
    return task;
  }

  async #step(action: Fields): Promise<object> {
    const { tools } = this.#source;
    if (action["type"] === "list_tools") return observation({ tools: tools.map(toolOf) }, {});
    if (tools.length === 0) {
      const { message: text } = action;
      if (typeof text !== "string")
        throw new Refusal("VALIDATION_ERROR", "An action has a text, message.");
      const result = await this.#run((episode, signal) => episode.respond?.(text, signal));
      return observation({ message: result.text }, result);
    }
    const { tool_name: name, arguments: args = {} } = action;
    const result = await this.#call(name, args);
    const error = { error_type: "invalid_args", message: result.text };
    const fields = { tool_name: name, result: result.text, error: null };
    return observation(
      result.isError === true ? { ...fields, result: null, error } : fields,
      result,
    );
  }

  async #call(name: unknown, args: unknown): Promise<EnvironmentResult> {
    if (typeof name !== "string" || typeof args !== "object" || args === null) {
      throw new Refusal("VALIDATION_ERROR", "A call has the name of a tool and arguments.");
    }
    if (!this.#source.tools.some((tool) => tool.name === name)) {
      return { text: `There is no tool "${name}".`, isError: true };
    }
    return await this.#run((episode, signal) => episode.call(name, args as Fields, signal));
  }

  async #run(
    act: (
      episode: EnvironmentEpisode,
      signal: AbortSignal,
    ) => Promise<EnvironmentResult> | undefined,
  ): Promise<EnvironmentResult> {
    if (this.#episode === null) throw new Refusal("SESSION_ERROR", "Send reset before step.");
    if (this.#isDone) throw new Refusal("SESSION_ERROR", "The episode has ended; send reset.");
    const result = (await act(this.#episode, this.#stop.signal)) ?? { text: "", done: true };
    this.#steps++;
    this.#isDone = result.done === true;
    return result;
  }

  async #rpc({ id = null, method, params }: Fields): Promise<object> {
    const { tools } = this.#source;
    if (tools.length === 0) return rpcError(id, -32_603, "Environment does not support MCP");
    if (method === "tools/list") {
      const listed = tools.map(({ parameters, ...tool }) => ({ ...tool, inputSchema: parameters }));
      return rpcResult(id, { tools: listed });
    }
    if (method !== "tools/call") {
      return rpcError(id, -32_601, `There is no method "${String(method)}".`);
    }
    try {
      const { name, arguments: args = {} } = (params ?? {}) as Fields;
      const { text, isError = false } = await this.#call(name, args);
      if (isError) return rpcError(id, -32_602, text);
      // The official client returns `data`.
      return rpcResult(id, { content: [{ type: "text", text }], data: text, is_error: false });
    } catch (error) {
      return rpcError(id, -32_603, error instanceof Error ? error.message : String(error));
    }
  }
}

const toolOf = ({ name, description = "", parameters }: ServedSource["tools"][number]): object => ({
  name,
  description,
  input_schema: parameters,
});

const observation = (
  fields: Fields,
  { reward, done = false }: Partial<EnvironmentResult>,
): object => ({
  type: "observation",
  data: { observation: fields, reward: reward ?? null, done },
});

export function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
