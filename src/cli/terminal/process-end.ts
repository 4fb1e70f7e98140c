/** How the process ends: a closed pipe is not an error, and handles that user code left open do not block exit. */
import { Socket } from "node:net";
import { inspect } from "node:util";
import { safeText, type TextStream } from "./terminal.ts";

/** Grace period for handles that close by themselves. */
const graceMs = 1000;

/** A reader such as `head` may close the pipe early; the work continues, and its results are in files. */
export function ignoreClosedReaders(streams: readonly NodeJS.EventEmitter[]): void {
  for (const stream of streams) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE" && error.code !== "ERR_STREAM_DESTROYED") throw error;
    });
  }
}

/** `Timeout, TCPSocketWrap (3)`: what keeps the process open, except its own streams. */
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
  /** Starts watching, until disposed. */
  watch(): void;
}

/** Errors of code that is still running after the end cannot change the result: each is reported once. */
export function createLateErrors(stderr: TextStream): LateErrors {
  const reported = new Set<string>();
  const report = (error: unknown): void => {
    const text = error instanceof Error ? `${error.name}: ${error.message}` : inspect(error);
    if (reported.has(text)) return;
    reported.add(text);
    stderr.write(
      `warning: Error after the run ended, in code that is still running: ${safeText(text)}\n`,
    );
  };
  return {
    watch() {
      process.on("uncaughtException", report);
      process.on("unhandledRejection", report);
    },
    [Symbol.dispose]() {
      process.off("uncaughtException", report);
      process.off("unhandledRejection", report);
    },
  };
}

/**
 * Lets the process end with `code`. It ends on its own when no handle is open. Otherwise, after the grace
 * period, the open handles (a timer, a pool, a client) are listed and the process exits anyway.
 */
export function endProcess(code: number, stderr: TextStream): void {
  process.exitCode = code;
  createLateErrors(stderr).watch();
  setTimeout(() => {
    const open = listResources(process.getActiveResourcesInfo());
    stderr.write(
      `warning: The command has finished, but your code keeps the process open${open === "" ? "" : ` (${open})`}; exiting now. Close timers, pools and clients when the agent no longer needs them.\n`,
    );
    process.exit(code);
  }, graceMs).unref();
}
