/** Tools of an MCP server for any task: tools only, so tasks and rewards come from elsewhere. */
import type { EnvironmentSource, OpenEpisode } from "../../core/environment.ts";
import { AgentTrainerError, ConfigError } from "../../core/errors.ts";
import type { Task } from "../../core/task.ts";
import { withTimeout } from "../../util/abort.ts";
import { environmentError } from "../episode/environment-error.ts";
import { failCutStreams, fetchLimited } from "./mcp-http.ts";
import { McpEpisode, type McpClient } from "./mcp-episode.ts";

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
