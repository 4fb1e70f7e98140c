/** The thread: turns records into text, packs and writes them, so that the gateway's thread is free for calls. */
import { parentPort } from "node:worker_threads";
import { type PlannedFile, writePlanned } from "./record-lines.ts";

/** What became of a file; the thread writes them in order. */
export type Written = {
  readonly failure: Pick<NodeJS.ErrnoException, "message" | "code" | "syscall" | "path"> | null;
};

function write(file: PlannedFile): Written {
  try {
    writePlanned(file, { isSynced: true });
    return { failure: null };
  } catch (error) {
    const { cause = error } = error as Error;
    const { message, code, syscall, path = file.path } = cause as NodeJS.ErrnoException;
    return { failure: { message, path, ...(code && { code }), ...(syscall && { syscall }) } };
  }
}

parentPort?.on("message", (file: PlannedFile) => parentPort?.postMessage(write(file)));
