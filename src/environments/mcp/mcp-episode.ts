/** One connection to an MCP server: its tools, and calls whose results are limited and typed. */
import type { Client } from "@modelcontextprotocol/client";
import type {
  EnvironmentEpisode,
  EnvironmentResult,
  EnvironmentTool,
  PromptMessage,
} from "../../core/environment.ts";
import { environmentError } from "../episode/environment-error.ts";

/** The part of the official client that is used. */
export type McpClient = Pick<Client, "callTool" | "listTools" | "close">;

const maxTools = 500;
const closeTimeoutMs = 10_000;

/** An open connection. */
export class McpEpisode implements EnvironmentEpisode {
  readonly prompt: readonly PromptMessage[];
  tools: readonly EnvironmentTool[] = [];
  readonly #client: McpClient;
  readonly #timeoutMs: number;
  #closing: Promise<void> | null = null;

  constructor(client: McpClient, instruction: string, timeoutMs: number) {
    this.#client = client;
    this.#timeoutMs = timeoutMs;
    this.prompt = [{ role: "user", content: instruction }];
  }

  /** Asks for all pages of tools. */
  async readTools(signal: AbortSignal): Promise<void> {
    const tools: EnvironmentTool[] = [];
    let cursor: string | undefined;
    do {
      // Each page names the next.
      // oxlint-disable-next-line no-await-in-loop
      const page = await this.#client.listTools(cursor === undefined ? {} : { cursor }, { signal });
      for (const { name, description, inputSchema } of page.tools) {
        tools.push({
          name,
          parameters: inputSchema,
          ...(description === undefined ? {} : { description }),
        });
      }
      cursor = page.nextCursor;
    } while (cursor !== undefined && tools.length < maxTools);
    this.tools = tools;
  }

  async call(
    name: string,
    args: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<EnvironmentResult> {
    try {
      const result = await this.#client.callTool(
        { name, arguments: { ...args } },
        { signal, timeout: this.#timeoutMs },
      );
      return {
        text: textOf(result.content, result.structuredContent),
        isError: result.isError === true,
      };
    } catch (error) {
      signal.throwIfAborted();
      const { code } = error as { readonly code?: unknown };
      const what = error instanceof Error ? error.message : String(error);
      // Invalid parameters and unknown tools are the model's mistakes.
      if (code === -32_602 || code === -32_601) return { text: what, isError: true };
      throw environmentError(`The call of "${name}" failed: ${what}`, { cause: error });
    }
  }

  close(): Promise<void> {
    this.#closing ??= Promise.race([
      this.#client.close().catch(() => {}),
      new Promise<void>((resolve) => setTimeout(resolve, closeTimeoutMs).unref()),
    ]);
    return this.#closing;
  }
}

/** Text as it is; of other parts their kind and size, since a model that reads text has no use for them. */
function textOf(content: unknown, structured: unknown): string {
  const parts = Array.isArray(content) ? (content as Readonly<Record<string, unknown>>[]) : [];
  if (parts.length === 0 && structured !== undefined) return JSON.stringify(structured);
  return parts.map(partText).join("\n");
}

function partText(part: Readonly<Record<string, unknown>>): string {
  const { type, text, data, mimeType, resource, uri } = part;
  if (type === "text" && typeof text === "string") return text;
  if (type === "resource" && typeof resource === "object" && resource !== null) {
    const { text: inner } = resource as { readonly text?: unknown };
    if (typeof inner === "string") return inner;
  }
  if (type === "resource_link" && typeof uri === "string") return uri;
  const size = typeof data === "string" ? `, ${data.length} characters of base64` : "";
  const kind = typeof type === "string" ? type : "unknown";
  return `[${kind}${typeof mimeType === "string" ? ` ${mimeType}` : ""}${size}]`;
}
