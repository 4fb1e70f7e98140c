/** A WebSocket to an OpenEnv server: one message in flight, each with a limit of time and size. */
import { WebSocket } from "ws";
import { raceAbort, withTimeout } from "../../util/abort.ts";
import { parseJson } from "../../http/http-fault.ts";
import { environmentError } from "../episode/environment-error.ts";
import { toEnvironmentError } from "../http.ts";

/** A message of the server. */
export interface OpenEnvMessage {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The server has no room for another episode. */
export class CapacityError extends Error {}

const maxBytes = 16 * 2 ** 20;

/** One socket, which is one environment. */
export class OpenEnvSocket {
  readonly #url: string;
  readonly #socket: WebSocket;
  readonly #received: string[] = [];
  #wake: () => void = () => {};
  #failure: Error | null = null;
  #requests = 0;

  constructor(url: string) {
    this.#url = url;
    this.#socket = new WebSocket(url, { maxPayload: maxBytes, handshakeTimeout: 60_000 });
    this.#socket.on("message", (data) => {
      // Messages have no ids: one too many would be taken for the response to the next one.
      if (this.#received.length > 0) {
        fail("it sent more than one message for one of ours");
        this.#socket.terminate();
        return;
      }
      this.#received.push((data as Buffer).toString("utf8"));
      this.#wake();
    });
    const fail = (what: string, cause?: unknown): void => {
      this.#failure ??= environmentError(`The connection to ${url} failed: ${what}`, {
        cause,
        hint: "Start the server of the environment, or correct its address.",
      });
      this.#wake();
    };
    this.#socket.on("error", (error) => fail(error.message, error));
    this.#socket.on("close", (code) => fail(`it was closed with code ${code}`));
  }

  /**
   * Sends a message and waits for the response to it.
   * @throws CapacityError when the server has no room; AgentTrainerError when the connection failed.
   */
  async request(message: object, timeoutMs: number, signal: AbortSignal): Promise<OpenEnvMessage> {
    const limited = withTimeout(signal, timeoutMs);
    try {
      await this.#opened(limited);
      // Before the first message, a server may say that it has no room.
      if (this.#requests++ > 0 && this.#received.length > 0) throw this.#outOfTurn();
      this.#socket.send(JSON.stringify(message));
      return this.#read(await this.#next(limited));
    } catch (error) {
      signal.throwIfAborted();
      if (!limited.aborted) throw error;
      throw environmentError(`${this.#url} did not respond within ${timeoutMs} ms.`, {
        cause: error,
      });
    }
  }

  /** Says so, and does not wait for long. */
  async close(): Promise<void> {
    const socket = this.#socket;
    if (socket.readyState === WebSocket.OPEN) socket.send('{"type":"close"}', () => {});
    if (socket.readyState !== WebSocket.CLOSED) {
      const closed = new Promise((resolve) => socket.once("close", resolve));
      const timer = setTimeout(() => socket.terminate(), 1000);
      if (socket.readyState === WebSocket.CONNECTING) socket.terminate();
      else socket.close();
      await closed;
      clearTimeout(timer);
    }
  }

  async #opened(signal: AbortSignal): Promise<void> {
    while (this.#socket.readyState === WebSocket.CONNECTING && this.#failure === null) {
      const opened = new Promise<void>((resolve) => {
        this.#socket.once("open", () => resolve());
        this.#wake = resolve;
      });
      // oxlint-disable-next-line no-await-in-loop
      await raceAbort(opened, signal);
    }
    // What a server says before it closes, such as that it has no room, comes first.
    if (this.#failure !== null && this.#received.length === 0) throw this.#failure;
  }

  async #next(signal: AbortSignal): Promise<string> {
    for (;;) {
      const text = this.#received.shift();
      if (text !== undefined) return text;
      if (this.#failure !== null) throw this.#failure;
      const woken = new Promise<void>((resolve) => (this.#wake = resolve));
      // oxlint-disable-next-line no-await-in-loop
      await raceAbort(woken, signal);
    }
  }

  #outOfTurn(): Error {
    return environmentError(`${this.#url} sent a message out of turn.`, { isFinal: true });
  }

  #parse(text: string): Partial<OpenEnvMessage> | null {
    try {
      return parseJson(text) as Partial<OpenEnvMessage> | null;
    } catch (error) {
      throw toEnvironmentError(this.#url, error);
    }
  }

  #read(text: string): OpenEnvMessage {
    const { type, data } = this.#parse(text) ?? {};
    if (typeof type !== "string" || typeof data !== "object" || data === null) {
      throw environmentError(`${this.#url} broke its protocol: ${text.slice(0, 200)}`, {
        isFinal: true,
      });
    }
    if (type === "error" && data["code"] === "CAPACITY_REACHED") {
      throw new CapacityError(`${this.#url} has no room for another episode.`);
    }
    return { type, data };
  }
}
