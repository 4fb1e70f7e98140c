/** The client side of `worker.ts`: calls as promises. */
import { listenToAbort } from "../../util/abort.ts";
import type { Worker } from "node:worker_threads";
import {
  AgentTrainerError,
  CheckpointError,
  ConfigError,
  ModelError,
  NumericsError,
} from "../../core/errors.ts";
import type { SampleChunk } from "../../core/policy.ts";
import { startThread } from "../../util/start-thread.ts";
import { defined } from "../../util/defined.ts";
import type { CallName, FromWorker, ToWorker, WireError, WorkerCalls } from "./protocol.ts";

interface PendingCall {
  readonly resolve: (output: never) => void;
  readonly reject: (error: unknown) => void;
  readonly onChunk: ((chunk: SampleChunk) => void) | undefined;
  readonly settle: () => void;
}

export interface CallOptions {
  readonly onChunk?: (chunk: SampleChunk) => void;
  /** Requests the worker to end the call early; it still responds. */
  readonly signal?: AbortSignal;
  /** Moved to the worker instead of being copied. */
  readonly moved?: readonly ArrayBuffer[];
}

export class WorkerClient {
  readonly #worker: Worker;
  readonly #pending = new Map<number, PendingCall>();
  #nextId = 0;
  #failure: Error | undefined;

  constructor() {
    this.#worker = startThread("./worker", import.meta.url);
    this.#worker.on("message", (message: FromWorker) => this.#receive(message));
    this.#worker.on("error", (error) => this.#fail(error));
    this.#worker.on("exit", () => this.#fail(new Error("The engine's thread has ended.")));
    // An idle worker must not keep the process alive.
    this.#worker.unref();
  }

  call<Name extends CallName>(
    name: Name,
    input: Parameters<WorkerCalls[Name]>[0],
    options: CallOptions = {},
  ): Promise<ReturnType<WorkerCalls[Name]>> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    const id = this.#nextId++;
    const { signal, onChunk, moved } = options;
    return new Promise((resolve, reject) => {
      const onAbort = (): void => this.#send({ kind: "cancel", id });
      const settle = (): void => {
        signal?.removeEventListener("abort", onAbort);
        if (this.#pending.size === 0) this.#worker.unref();
      };
      this.#pending.set(id, { resolve, reject, onChunk, settle });
      this.#worker.ref();
      this.#send({ kind: "call", id, name, input }, moved);
      if (signal?.aborted === true) onAbort();
      else if (signal !== undefined) listenToAbort(signal, onAbort);
    });
  }

  #send(message: ToWorker, moved: readonly ArrayBuffer[] = []): void {
    this.#worker.postMessage(message, moved);
  }

  #receive(message: FromWorker): void {
    const call = this.#pending.get(message.id);
    if (call === undefined) return;
    if (message.kind === "chunk") {
      call.onChunk?.(message.chunk);
      return;
    }
    this.#pending.delete(message.id);
    call.settle();
    if (message.kind === "result") call.resolve(message.output as never);
    else call.reject(fromWire(message.error));
  }

  #fail(error: Error): void {
    this.#failure ??= new AgentTrainerError({
      code: "INTERNAL",
      message: `The engine's thread failed: ${error.message}`,
      cause: error,
    });
    for (const call of this.#pending.values()) {
      call.settle();
      call.reject(this.#failure);
    }
    this.#pending.clear();
  }

  async terminate(): Promise<void> {
    await this.#worker.terminate();
  }
}

function fromWire(error: WireError): Error {
  const rebuilt = rebuild(error);
  if (error.stack !== undefined) rebuilt.stack = error.stack;
  return rebuilt;
}

function rebuild({ name, code, message, hint, fields = {} }: WireError): Error {
  const details = { message, fields, ...defined({ hint }) };
  switch (code) {
    case undefined:
      return Object.assign(new Error(message), { name });
    case "MODEL_INVALID":
      return new ModelError(details);
    case "CHECKPOINT_INVALID":
      return new CheckpointError(details);
    case "CONFIG_INVALID":
      return new ConfigError(details);
    case "NUMERICS":
      // Of a training step; an aborted sequence has another message.
      if (typeof fields["tensor"] !== "string") return new AgentTrainerError({ code, ...details });
      return new NumericsError(fields["tensor"], Number(fields["value"]));
    default:
      return new AgentTrainerError({ code, ...details });
  }
}
