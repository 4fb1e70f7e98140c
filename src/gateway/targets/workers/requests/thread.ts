/** The thread: runs requests for its host, so that the host's thread is free for clients. */
import { parentPort } from "node:worker_threads";
import type { ResponseChunk } from "../adapters/response-part.ts";
import { Connection } from "../http/connection.ts";
import { defined } from "../../../../util/defined.ts";
import { runRequest } from "./upstream-request.ts";
import { toWireError, type FromThread, type ToThread } from "./thread-messages.ts";

const connections = new Map<number, Connection>();
const open = new Map<number, AbortController>();

function say(message: FromThread, moved: readonly ArrayBuffer[] = []): void {
  parentPort?.postMessage(message, moved);
}

/** Long lists of ids are moved instead of copied. */
function buffersOf(pieces: readonly ResponseChunk[]): ArrayBuffer[] {
  return pieces.flatMap(({ promptIds }) =>
    promptIds instanceof Int32Array ? [promptIds.buffer as ArrayBuffer] : [],
  );
}

function connectionOf({ connection: key, options }: ToThread & { kind: "open" }): Connection {
  const known = connections.get(key);
  if (known) return known;
  if (!options) throw new Error(`There is no connection ${key}.`);
  const made = new Connection(options);
  connections.set(key, made);
  return made;
}

async function run(message: ToThread & { kind: "open" }): Promise<void> {
  const { id, request, deadlines } = message;
  const abort = new AbortController();
  open.set(id, abort);
  const { signal } = abort;
  try {
    const options = { signal, ...defined({ deadlines }) };
    for await (const pieces of runRequest(connectionOf(message), request, options)) {
      say({ kind: "pieces", id, pieces }, buffersOf(pieces));
    }
    say({ kind: "end", id });
  } catch (error) {
    // After an abort there is no reader.
    if (!signal.aborted) say({ kind: "end", id, error: toWireError(error) });
  } finally {
    open.delete(id);
  }
}

parentPort?.on("message", (message: ToThread) => {
  if (message.kind === "open") void run(message);
  else open.get(message.id)?.abort();
});
