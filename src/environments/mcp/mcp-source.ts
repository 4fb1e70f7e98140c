/** Tools of an MCP server for any task: tools only, so tasks and rewards come from elsewhere. */
import type { EnvironmentSource, OpenEpisode } from "../../core/environment.ts";
import { AgentTrainerError, ConfigError } from "../../core/errors.ts";
import type { Task } from "../../core/task.ts";
import { withTimeout } from "../../util/abort.ts";
import { environmentError } from "../episode/environment-error.ts";
import { McpEpisode, type McpClient } from "./mcp-episode.ts";
import type { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { fetchSameOrigin } from "../../http/fetch-same-origin.ts";
import { sizeFault } from "../../http/http-fault.ts";
import { toEnvironmentError } from "../http.ts";

/** Of one response; of a stream all messages together. */
const maxBytes = 64 * 2 ** 20;

/** `fetch`, whose bodies fail when they are too large. */
export async function fetchLimited(url: string | URL, init?: RequestInit): Promise<Response> {
  const response = await fetchSameOrigin(url, init);
  if (response.body === null) return response;
  let size = 0;
  const counted = new TransformStream<Uint8Array, Uint8Array>({
    transform(piece, controller) {
      size += piece.byteLength;
      if (size > maxBytes) throw toEnvironmentError(String(url), sizeFault(maxBytes));
      controller.enqueue(piece);
    },
  });
  const { status, statusText, headers } = response;
  const limited = new Response(response.body.pipeThrough(counted), { status, statusText, headers });
  return Object.defineProperty(limited, "url", { value: response.url });
}

/**
 * A request whose stream ends without a response, and cannot be taken up again, fails at once. The transport
 * alone would leave it to the time limit of the request.
 */
function failCutStreams(transport: StreamableHTTPClientTransport): void {
  const send = transport.send.bind(transport);
  transport.send = (message, options) =>
    send(message, {
      ...options,
      onRequestStreamEnd: () => {
        if (Array.isArray(message) || !("id" in message) || !("method" in message)) return;
        // One that was answered is unknown by now, and this is ignored.
        transport.onmessage?.({
          jsonrpc: "2.0",
          id: message.id,
          error: { code: connectionClosed, message: "The connection was cut before the response." },
        });
      },
    });
}

/** As the official client calls it, in the range of JSON-RPC that implementations may use. */
const connectionClosed = -32_000;

/** Options of an MCP server. */
export interface McpOptions {
  /** A URL (streamable HTTP), or a command with its arguments, separated by spaces (standard input and output). */
  readonly server: string;
  /** Limit of one call in milliseconds. @default 300000 */
  readonly callTimeoutMs?: number;
}

const connectTimeoutMs = 60_000;

/** The tools of an MCP server. Each episode has a separate connection or process. */
export class McpSource implements EnvironmentSource {
  readonly name: string;
  readonly givesRewards = false;
  readonly #options: McpOptions;

  constructor(options: McpOptions) {
    if (options.server.trim() === "") {
      throw new ConfigError({
        message: 'The environment "mcp:" names no server.',
        hint: "Write mcp:COMMAND or mcp:URL, as in mcp:npx -y my-server.",
      });
    }
    this.#options = options;
    this.name = `mcp:${options.server}`;
  }

  // oxlint-disable-next-line require-await, require-yield
  async *tasks(): AsyncGenerator<Task> {
    throw new ConfigError({
      message: `${this.name} gives tools, but no tasks.`,
      hint: "Set dataset.train (in code: trainDataset), and dataset.val for validation.",
      fields: { env: this.name },
    });
  }

  async open(task: Task, { signal }: OpenEpisode): Promise<McpEpisode> {
    const limited = withTimeout(signal, connectTimeoutMs);
    let client: McpClient | undefined;
    try {
      client = await this.#connect(limited);
      const episode = new McpEpisode(client, task, this.#options.callTimeoutMs ?? 300_000);
      await episode.readTools(limited);
      return episode;
    } catch (error) {
      await client?.close().catch(() => {});
      signal.throwIfAborted();
      if (AgentTrainerError.isInstance(error)) throw error;
      const what = error instanceof Error ? error.message : String(error);
      throw environmentError(`${this.name} cannot be opened: ${what}`, {
        cause: error,
        hint: "Run the command by hand, or open the URL, to see what it says.",
      });
    }
  }

  async #connect(signal: AbortSignal): Promise<McpClient> {
    const { server } = this.#options;
    const { Client, StreamableHTTPClientTransport } = await load(
      () => import("@modelcontextprotocol/client"),
    );
    const client = new Client({ name: "agent-trainer", version: "1" });
    if (/^https?:\/\//u.test(server)) {
      const transport = new StreamableHTTPClientTransport(new URL(server), { fetch: fetchLimited });
      failCutStreams(transport);
      await client.connect(transport, { signal });
      return client;
    }
    const { McpProcess } = await load(() => import("./mcp-process.ts"));
    await client.connect(new McpProcess(server.trim().split(/\s+/u)), { signal });
    return client;
  }
}

/** @throws AgentTrainerError (`ENGINE_NOT_INSTALLED`) without the package. */
async function load<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw new AgentTrainerError({
      code: "ENGINE_NOT_INSTALLED",
      message:
        "The package @modelcontextprotocol/client, which mcp: environments need, is not installed.",
      hint: "Run: npm install @modelcontextprotocol/client",
      cause: error,
    });
  }
}
