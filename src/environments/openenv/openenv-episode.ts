/** An episode of OpenEnv: its observations as text, its actions as tools, or as the text of a response. */
import type {
  EnvironmentEpisode,
  EnvironmentResult,
  EnvironmentTool,
  PromptMessage,
} from "../../core/environment.ts";
import { environmentError } from "../episode/environment-error.ts";
import type { OpenEnvMessage, OpenEnvSocket } from "./openenv-socket.ts";
import { jsonText } from "../episode/json-text.ts";

type Fields = Readonly<Record<string, unknown>>;

interface Beginning {
  /** Fields of the reset: a seed, or a task. */
  readonly reset: object;
  /** JSON Schema of an action. */
  readonly action: Fields;
  readonly callTimeoutMs: number;
  readonly signal: AbortSignal;
}

/** Name of the tool where the server has none, only a form of actions. */
const stepTool = "step";

/** Errors that the model made; the socket survives them. */
const refusals = new Set(["VALIDATION_ERROR", "INVALID_JSON"]);

/** An environment that was reset. */
export class OpenEnvEpisode implements EnvironmentEpisode {
  readonly prompt: readonly PromptMessage[];
  readonly tools: readonly EnvironmentTool[];
  readonly respond?: (text: string, signal: AbortSignal) => Promise<EnvironmentResult>;
  readonly #socket: OpenEnvSocket;
  readonly #timeoutMs: number;
  readonly #hasTools: boolean;

  private constructor(
    socket: OpenEnvSocket,
    timeoutMs: number,
    observation: unknown,
    tools: readonly EnvironmentTool[] | null,
    action: Fields,
  ) {
    this.#socket = socket;
    this.#timeoutMs = timeoutMs;
    this.#hasTools = tools !== null;
    this.prompt = [{ role: "user", content: textOf(observation) }];
    const textField = tools === null ? onlyTextField(action) : null;
    this.tools =
      tools ??
      (textField === null
        ? [{ name: stepTool, description: "Takes one step.", parameters: withoutMetadata(action) }]
        : []);
    if (textField !== null)
      this.respond = (text, signal) => this.#step({ [textField]: text }, signal);
  }

  /** Resets the environment, and asks whether it has tools. @throws CapacityError */
  static async begin(
    socket: OpenEnvSocket,
    { reset, action, callTimeoutMs, signal }: Beginning,
  ): Promise<OpenEnvEpisode> {
    const started = await socket.request({ type: "reset", data: reset }, callTimeoutMs, signal);
    const { observation } = requireObservation(started);
    const request = { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} };
    const listed = await socket.request({ type: "mcp", data: request }, callTimeoutMs, signal);
    return new OpenEnvEpisode(socket, callTimeoutMs, observation, readTools(listed), action);
  }

  async call(name: string, args: Fields, signal: AbortSignal): Promise<EnvironmentResult> {
    return await this.#step(
      this.#hasTools ? { type: "call_tool", tool_name: name, arguments: args } : args,
      signal,
    );
  }

  async close(): Promise<void> {
    await this.#socket.close();
  }

  async #step(action: Fields, signal: AbortSignal): Promise<EnvironmentResult> {
    const message = await this.#socket.request(
      { type: "step", data: action },
      this.#timeoutMs,
      signal,
    );
    if (message.type === "error" && refusals.has(codeOf(message.data))) {
      return { text: describe(message.data), isError: true, done: false };
    }
    const { observation, reward: given, done } = requireObservation(message);
    const reward = readReward(given);
    const error = (observation as Fields | null)?.["error"];
    return {
      text: textOf(observation),
      done: done === true,
      ...(reward === null ? {} : { reward }),
      ...(typeof error === "object" && error !== null ? { isError: true } : {}),
    };
  }
}

/** @throws AgentTrainerError for an error of the server, or another kind of message. */
function requireObservation({ type, data }: OpenEnvMessage): Fields {
  if (type === "observation") return data;
  const code = codeOf(data) || type;
  throw environmentError(`The environment responded with ${code}: ${describe(data)}`, {
    isFinal: code === "VALIDATION_ERROR" || code === "UNKNOWN_TYPE",
    fields: { code },
  });
}

/** OpenEnv's rewards are numbers, true and false, or null. @throws AgentTrainerError for anything else. */
function readReward(given: unknown): number | null {
  if (given === null || given === undefined) return null;
  if (typeof given === "number" || typeof given === "boolean") return Number(given);
  throw environmentError(
    `The environment gave the reward ${jsonText(given).slice(0, 200)}, which is not a number.`,
    { isFinal: true },
  );
}

const codeOf = ({ code }: Fields): string => (typeof code === "string" ? code : "");

const describe = (data: Fields): string => {
  const { message, errors } = data;
  const text = typeof message === "string" ? message : jsonText(data);
  return errors === undefined || errors === null ? text : `${text} ${jsonText(errors)}`;
};

/** Tools of an MCP environment; null for others, which answer with an error. */
function readTools({ type, data }: OpenEnvMessage): readonly EnvironmentTool[] | null {
  const { tools } = ((type === "mcp" ? data["result"] : null) ?? {}) as {
    readonly tools?: unknown;
  };
  if (!Array.isArray(tools) || tools.length === 0) return null;
  return (tools as Fields[]).flatMap((tool) => {
    const { name, description } = tool;
    if (typeof name !== "string") return [];
    const schema = tool["inputSchema"] ?? tool["input_schema"];
    return {
      name,
      ...(typeof description === "string" ? { description } : {}),
      parameters: (schema ?? { type: "object", properties: {} }) as Fields,
    };
  });
}

/** Every action has `metadata`, which is for programs. */
function withoutMetadata(action: Fields): Fields {
  const { metadata: _, ...properties } = (action["properties"] ?? {}) as Fields;
  return { ...action, properties };
}

/** The field of an action that is one text; null for others. */
function onlyTextField(action: Fields): string | null {
  const properties = Object.entries((withoutMetadata(action)["properties"] ?? {}) as Fields);
  const [only] = properties;
  if (only === undefined || properties.length > 1) return null;
  const [name, schema] = only;
  return (schema as Fields | null)?.["type"] === "string" ? name : null;
}

/** Fields in which environments usually put what is to be read. */
const textFields = new Set(["text", "message", "prompt", "content", "observation", "result"]);

/** An observation as a model reads it: its only text, or all of it as JSON. */
function textOf(observation: unknown): string {
  if (typeof observation === "string") return observation;
  if (typeof observation !== "object" || observation === null) return jsonText(observation);
  const { metadata: _, ...fields } = observation as Fields;
  const present = Object.entries(fields).filter(([, value]) => value !== null && value !== "");
  const [only] = present;
  if (present.length === 1 && only !== undefined && textFields.has(only[0])) {
    if (typeof only[1] === "string") return only[1];
  }
  return jsonText(Object.fromEntries(present));
}
