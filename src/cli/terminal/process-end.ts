/** How the process ends: a reader that has left is no error, and what user code left open does not hold it. */
import { Socket } from "node:net";
import { inspect } from "node:util";
import { safeText, type TextStream } from "./terminal.ts";

/** How long what closes by itself has for it. */
const graceMs = 1000;

/** A reader like `head` leaves when it has enough; the work goes on, and its record is in files. */
export function ignoreClosedReaders(streams: readonly NodeJS.EventEmitter[]): void {
  for (const stream of streams) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE" && error.code !== "ERR_STREAM_DESTROYED") throw error;
    });
  }
}

/** `Timeout, TCPSocketWrap (3)`: what keeps the process open, without its own streams. */
export function listResources(
  resources: readonly string[],
  streams: readonly unknown[] = [process.stdout, process.stderr],
): string {
  const counts = new Map<string, number>();
  for (const name of resources) counts.set(name, (counts.get(name) ?? 0) + 1);
  counts.delete("TTYWrap");
  const ownPipes = streams.filter((stream) => stream instanceof Socket).length;
  counts.set("PipeWrap", (counts.get("PipeWrap") ?? 0) - ownPipes);
  return [...counts]
    .filter(([, count]) => count > 0)
    .map(([name, count]) => (count === 1 ? name : `${name} (${count})`))
    .join(", ");
}

export interface LateErrors extends Disposable {
  /** From now on, until disposed. */
  watch(): void;
}

/** Errors of what user code left running come too late to change a result: each is told once. */
export function createLateErrors(stderr: TextStream): LateErrors {
  const told = new Set<string>();
  const tell = (error: unknown): void => {
    const text = error instanceof Error ? `${error.name}: ${error.message}` : inspect(error);
    if (told.has(text)) return;
    told.add(text);
    stderr.write(`warning: After the end, in code that is still running: ${safeText(text)}\n`);
  };
  return {
    watch() {
      process.on("uncaughtException", tell);
      process.on("unhandledRejection", tell);
    },
    [Symbol.dispose]() {
      process.off("uncaughtException", tell);
      process.off("unhandledRejection", tell);
    },
  };
}

/**
 * Lets the process end with `code`. It ends by itself when nothing is open; what an agent's module left
 * open (a timer, a pool, a client) is named after a moment, and the process exits all the same.
 */
export function endProcess(code: number, stderr: TextStream): void {
  process.exitCode = code;
  createLateErrors(stderr).watch();
  setTimeout(() => {
    const open = listResources(process.getActiveResourcesInfo());
    stderr.write(
      `warning: The work is done, but your code keeps the process open${open === "" ? "" : ` (${open})`}; it is ended now. Close timers, pools and clients when the agent is done with them.\n`,
    );
    process.exit(code);
  }, graceMs).unref();
}
