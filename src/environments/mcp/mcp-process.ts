/** The standard input and output of an MCP server, which ends with all that it started: `npx` starts another process. */
import { once } from "node:events";
import {
  type JSONRPCMessage,
  ReadBuffer,
  serializeMessage,
  type Transport,
} from "@modelcontextprotocol/client";
import { getDefaultEnvironment } from "@modelcontextprotocol/client/stdio";
import { type StartedProcess, startProcess } from "../../util/process/start-process.ts";

/** For its end after its input was closed, and again after it was asked to end. */
const endMs = 2000;
/** For what is left in the pipe after the end. */
const pipeMs = 500;

/** A transport of the official client. The server gets few variables of this process, as with the official one. */
export class McpProcess implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #argv: readonly string[];
  readonly #buffer = new ReadBuffer();
  #started: StartedProcess | null = null;

  constructor(argv: readonly string[]) {
    this.#argv = argv;
  }

  /** Rejects when the program cannot be started. */
  async start(): Promise<void> {
    const started = startProcess({
      argv: this.#argv,
      env: getDefaultEnvironment(),
      stdio: ["pipe", "pipe", "ignore"],
      endsAll: true,
      shell: process.platform === "win32",
    });
    this.#started = started;
    const { child } = started;
    const fail = (error: Error): void => this.onerror?.(error);
    child.stdin?.on("error", fail);
    child.stdout?.on("error", fail);
    child.stdout?.on("data", (chunk: Buffer) => this.#read(chunk));
    // A process that left the group may hold the pipe.
    child.once("exit", () => setTimeout(() => child.stdout?.destroy(), pipeMs).unref());
    child.once("close", () => this.onclose?.());
    await once(child, "spawn");
    child.on("error", fail);
  }

  #read(chunk: Buffer): void {
    try {
      this.#buffer.append(chunk);
    } catch (error) {
      // A message of more than 10 MB.
      this.onerror?.(error as Error);
      this.#started?.kill();
      return;
    }
    for (;;) {
      try {
        const message = this.#buffer.readMessage();
        if (message === null) return;
        this.onmessage?.(message);
      } catch (error) {
        this.onerror?.(error as Error);
      }
    }
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#started?.child.stdin;
    if (!stdin?.writable) throw new Error("The MCP server has ended.");
    await new Promise<void>((resolve, reject) => {
      stdin.write(serializeMessage(message), (error) => (error ? reject(error) : resolve()));
    });
  }

  /** Ends it: by closing its input, then by asking it to, then by force. */
  async close(): Promise<void> {
    const { child, terminate, kill } = this.#started ?? {};
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.stdin?.end();
    const timers = [setTimeout(terminate!, endMs), setTimeout(kill!, 2 * endMs)];
    await ended;
    for (const timer of timers) clearTimeout(timer);
    child.stdout?.destroy();
  }
}
