/** One connection to an MCP server: its tools, and calls whose results are limited and typed. */
import type { Client } from "@modelcontextprotocol/client";
import { z } from "zod";
import type {
  EnvironmentEpisode,
  EnvironmentResult,
  EnvironmentTool,
  PromptMessage,
} from "../../core/environment.ts";
import type { Task } from "../../core/task.ts";
import { environmentError } from "../episode/environment-error.ts";
import { jsonText } from "../episode/json-text.ts";

/** A call and what it has to answer at the end, in `checks` of a task. */
const checks = z
  .array(
    z.object({
      name: z.string(),
      arguments: z.record(z.string(), z.unknown()),
      result: z.string(),
    }),
  )
  .max(100);
type RecordedCall = z.infer<typeof checks>[number];

function checksOf(metadata: unknown): readonly RecordedCall[] {
  const given = (metadata as { readonly checks?: unknown } | null)?.checks;
  return checks.safeParse(given).data ?? [];
}

/** The part of the official client that is used. */
export type McpClient = Pick<Client, "callTool" | "listTools" | "close">;

const maxTools = 500;
const closeTimeoutMs = 10_000;

/** An open connection. */
export class McpEpisode implements EnvironmentEpisode {
  readonly prompt: readonly PromptMessage[];
  /** Both check the state that the agent has left, where the task says what it should be. */
  readonly respond?: NonNullable<EnvironmentEpisode["respond"]>;
  readonly finish?: NonNullable<EnvironmentEpisode["finish"]>;
  tools: readonly EnvironmentTool[] = [];
  /** Tools that the server says change nothing. */
  readonly readOnly: Set<string> = new Set<string>();
  /** Tools that the server says may destroy something. */
  readonly destructive: Set<string> = new Set<string>();
  readonly #client: McpClient;
  readonly #timeoutMs: number;
  readonly #checks: readonly RecordedCall[];
  #closing: Promise<void> | null = null;

  constructor(client: McpClient, { instruction, metadata }: Task, timeoutMs: number) {
    this.prompt = [{ role: "user", content: instruction }];
    this.#client = client;
    this.#timeoutMs = timeoutMs;
    this.#checks = checksOf(metadata);
    if (this.#checks.length === 0) return;
    this.respond = (_text, signal) => this.#check(signal);
    this.finish = (signal) => this.#check(signal);
  }

  /** Asks for all pages of tools. */
  async readTools(signal: AbortSignal): Promise<void> {
    const tools: EnvironmentTool[] = [];
    let cursor: string | undefined;
    do {
      // Each page names the next.
      // oxlint-disable-next-line no-await-in-loop
      const page = await this.#client.listTools(cursor === undefined ? {} : { cursor }, { signal });
      for (const { name, description, inputSchema, annotations } of page.tools) {
        if (annotations?.readOnlyHint === true) this.readOnly.add(name);
        else if (annotations?.destructiveHint === true) this.destructive.add(name);
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

  async #check(signal: AbortSignal): Promise<EnvironmentResult> {
    let passed = 0;
    for (const { name, arguments: given, result } of this.#checks) {
      const found = await this.call(name, given, signal);
      if (found.isError !== true && found.text === result) passed++;
    }
    return { text: "", done: true, signals: { checks_passed: passed / this.#checks.length } };
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
  if (parts.length === 0 && structured !== undefined) return jsonText(structured);
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
