/** An environment behind OpenEnv's WebSocket: one episode per socket, one message at a time. */
import { randomUUID } from "node:crypto";
import type { IncomingMessage, Server } from "node:http";
import { type WebSocket, WebSocketServer } from "ws";
import { z } from "zod";
import type {
  EnvironmentEpisode,
  EnvironmentResult,
  PromptMessage,
} from "../../core/environment.ts";
import type { Task } from "../../core/task.ts";
import { type ServedSource, taskOfSpec } from "./served-source.ts";

type Fields = Readonly<Record<string, unknown>>;

const maxBytes = 16 * 2 ** 20;
/** A socket whose client does not answer pings is closed after the second one. */
const pingMs = 20_000;

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

/** One socket. */
class SocketEpisode {
  readonly #source: ServedSource;
  readonly #stop = new AbortController();
  #episode: EnvironmentEpisode | null = null;
  #id = "";
  #steps = 0;
  #isDone = false;

  constructor(source: ServedSource) {
    this.#source = source;
  }

  async answer(text: string): Promise<object> {
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
    if (type === "mcp") return { type: "mcp", data: await this.#mcp(data) };
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
      throw new Refusal("VALIDATION_ERROR", "An action has tool_name and arguments.");
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

  /** Tools for clients that speak MCP within the socket. */
  async #mcp({ id = null, method }: Fields): Promise<object> {
    const { tools } = this.#source;
    const failed = (code: number, text: string) => ({
      jsonrpc: "2.0",
      id,
      error: { code, message: text },
    });
    if (tools.length === 0) return failed(-32_603, "Environment does not support MCP");
    if (method === "tools/list") {
      const listed = tools.map(({ parameters, ...tool }) => ({ ...tool, inputSchema: parameters }));
      return { jsonrpc: "2.0", id, result: { tools: listed } };
    }
    return failed(-32_601, `There is no method "${String(method)}"; take steps with call_tool.`);
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

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Takes the sockets of a server. `isAllowed` sees the headers of each. */
export function attachOpenEnv(
  server: Server,
  source: ServedSource,
  isAllowed: (key: string) => boolean,
): { close(): void } {
  const sockets = new WebSocketServer({
    server,
    path: "/ws",
    maxPayload: maxBytes,
    verifyClient: ({ req }: { req: IncomingMessage }) => {
      const key = req.headers["x-api-key"];
      return isAllowed(typeof key === "string" ? key : "");
    },
  });
  sockets.on("error", () => {});
  sockets.on("connection", (socket: WebSocket) => {
    const episode = new SocketEpisode(source);
    let last: Promise<unknown> = Promise.resolve();
    let isAlive = true;
    const pings = setInterval(() => {
      if (!isAlive) socket.terminate();
      isAlive = false;
      socket.ping();
    }, pingMs);
    pings.unref();
    socket.on("pong", () => (isAlive = true));
    socket.on("error", () => {});
    socket.on("close", () => {
      clearInterval(pings);
      void episode.close();
    });
    socket.on("message", (data) => {
      const text = (data as Buffer).toString("utf8");
      const { type } = (parse(text) ?? {}) as { readonly type?: unknown };
      if (type === "close") {
        socket.close();
        return;
      }
      last = last.then(async () => {
        const answer = await episode.answer(text);
        if (socket.readyState === socket.OPEN) socket.send(JSON.stringify(answer));
      });
    });
  });
  return {
    close: () => {
      for (const socket of sockets.clients) socket.terminate();
      sockets.close();
    },
  };
}
