/** The host of `thread.ts`: requests as if they ran here. Started at first use; idle, it does not keep the process alive. */
import { listenToAbort } from "../../../../util/abort.ts";
import type { Worker as Thread } from "node:worker_threads";
import { startThread } from "../../../../util/start-thread.ts";
import type { ResponseChunk } from "../adapters/response-part.ts";
import { UpstreamError } from "../upstream-error.ts";
import { defined } from "../../../../util/defined.ts";
import type { WorkerRequest, UpstreamRequestOptions } from "./upstream-request.ts";
import type { Connection } from "../http/connection.ts";
import { fromWireError, type FromThread, type ToThread } from "./thread-messages.ts";

class Inbox<T> {
  readonly #values: T[] = [];
  #end: { readonly error: unknown; readonly isFailure: boolean } | undefined;
  #wake: (() => void) | undefined;

  get isEnded(): boolean {
    return this.#end !== undefined;
  }

  push(value: T): void {
    this.#values.push(value);
    this.#wake?.();
  }

  /** Values pushed before are still yielded. */
  end(): void {
    this.#end ??= { error: undefined, isFailure: false };
    this.#wake?.();
  }

  /** Thrown after the values pushed before. */
  fail(error: unknown): void {
    this.#end ??= { error, isFailure: true };
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for (;;) {
      while (this.#values.length > 0) yield this.#values.shift() as T;
      if (this.#end) {
        if (this.#end.isFailure) throw this.#end.error;
        return;
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
  }
}

type Pieces = readonly ResponseChunk[];

export class RequestThread {
  readonly #open = new Map<number, Inbox<Pieces>>();
  /** Connections that the thread knows. */
  readonly #connections = new Map<Connection, number>();
  readonly #report: (error: unknown) => void;
  readonly #startThread: () => Thread;
  #thread: Thread | undefined;
  #nextId = 0;
  #isBroken = false;

  /** `report` is called when the thread fails. */
  constructor(
    report: (error: unknown) => void,
    start: () => Thread = () => startThread("./thread", import.meta.url),
  ) {
    this.#report = report;
    this.#startThread = start;
  }

  /** False after a failure: requests must run elsewhere then. */
  get isUsable(): boolean {
    return !this.#isBroken;
  }

  /** Yields and throws as `runRequest` does. */
  async *run(
    connection: Connection,
    request: WorkerRequest,
    { signal, deadlines }: UpstreamRequestOptions,
  ): AsyncGenerator<Pieces, void, undefined> {
    signal.throwIfAborted();
    const id = this.#nextId++;
    const inbox = new Inbox<Pieces>();
    const onAbort = (): void => {
      this.#say({ kind: "abort", id });
      inbox.fail(signal.reason);
    };
    this.#start().ref();
    this.#open.set(id, inbox);
    listenToAbort(signal, onAbort);
    try {
      this.#say({
        kind: "open",
        id,
        request,
        ...this.#introduce(connection),
        ...defined({ deadlines }),
      });
      yield* inbox;
    } finally {
      signal.removeEventListener("abort", onAbort);
      if (!inbox.isEnded) this.#say({ kind: "abort", id });
      this.#open.delete(id);
      if (this.#open.size === 0) this.#thread?.unref();
    }
  }

  async close(): Promise<void> {
    this.#isBroken = true;
    const thread = this.#thread;
    this.#thread = undefined;
    await thread?.terminate();
  }

  #introduce(connection: Connection): Pick<ToThread & { kind: "open" }, "connection" | "options"> {
    const known = this.#connections.get(connection);
    if (known !== undefined) return { connection: known };
    const key = this.#nextId++;
    this.#connections.set(connection, key);
    return { connection: key, options: connection.options };
  }

  #start(): Thread {
    if (this.#thread) return this.#thread;
    const thread = this.#startThread();
    this.#thread = thread;
    thread.on("message", (message: FromThread) => {
      const inbox = this.#open.get(message.id);
      if (!inbox) return;
      if (message.kind === "pieces") inbox.push(message.pieces);
      else if (message.error) inbox.fail(fromWireError(message.error));
      else inbox.end();
    });
    thread.on("error", (error) => {
      this.#break(error);
    });
    thread.on("exit", () => {
      this.#break(new Error("It has ended."));
    });
    return thread;
  }

  #break(cause: Error): void {
    if (this.#isBroken) return;
    this.#isBroken = true;
    const message = `The thread that talks to workers failed: ${cause.message}`;
    this.#report(new Error(message, { cause }));
    for (const inbox of this.#open.values()) {
      // Another try runs on this thread.
      inbox.fail(new UpstreamError({ failure: "stale", message, cause }));
    }
  }

  #say(message: ToThread): void {
    this.#thread?.postMessage(message);
  }
}
