/** What can go wrong between a trace and its disk. */
import { AgentTrainerError } from "../../core/errors.ts";
import { defined } from "../../util/defined.ts";

/**
 * `busy`: another process writes and did not let go in time; `full`: no space is left; `duplicate`: a
 * trace of this id exists; `closed`: the store was closed; `io`: anything else.
 */
export type StoreFailure = "busy" | "full" | "duplicate" | "closed" | "io";

const hints: Readonly<Partial<Record<StoreFailure, string>>> = {
  busy: "Give every gateway its own trace store, and end long transactions of other programs.",
  full: "Free space on the disk, or raise the store's size limit.",
};

/** Traces could not be kept, so the call that they are of fails. */
export class StoreError extends AgentTrainerError {
  override readonly name = "StoreError";
  readonly reason: StoreFailure;

  constructor(reason: StoreFailure, message: string, cause?: unknown) {
    const hint = hints[reason];
    super({
      code: "STORE_FAILED",
      message,
      ...defined({ hint }),
      cause,
      fields: { reason },
    });
    this.reason = reason;
  }
}

/** Takes an error of SQLite as what it means for the store at `path`. */
export function toStoreError(error: unknown, path: string): StoreError {
  if (error instanceof StoreError) return error;
  const { code, message } = error as { code?: unknown; message?: unknown };
  const name = String(code);
  if (name.startsWith("SQLITE_BUSY") || name.startsWith("SQLITE_LOCKED")) {
    return new StoreError("busy", `Another process holds the trace store ${path}.`, error);
  }
  if (name === "SQLITE_FULL" || name === "SQLITE_IOERR_WRITE") {
    return new StoreError("full", `There is no space left for the trace store ${path}.`, error);
  }
  if (name === "SQLITE_CONSTRAINT_UNIQUE") {
    return new StoreError("duplicate", `A trace is in the store ${path} already.`, error);
  }
  if (name === "SQLITE_CONSTRAINT_PRIMARYKEY") {
    return new StoreError("busy", `Another process wrote to the trace store ${path}.`, error);
  }
  return new StoreError("io", `The trace store ${path} failed: ${String(message)}`, error);
}
