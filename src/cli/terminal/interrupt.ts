/** Ctrl-C: the first stops the run and saves it, the second quits immediately. */
import { AgentTrainerError } from "../../core/errors.ts";
import { exitCodes } from "./exit-codes.ts";
import type { CliIo } from "./io.ts";

export interface Interrupt extends Disposable {
  readonly signal: AbortSignal;
}

/**
 * Ends the process by the signal itself, which a shell reports as 130 or 143. `process.exit` would tear
 * down the engine's thread in the middle of a native call, which aborts the process.
 */
function dieOf(name: "SIGINT" | "SIGTERM"): void {
  process.emit("exit", exitCodes.interrupted);
  if (process.platform !== "win32") {
    process.removeAllListeners(name);
    process.kill(process.pid, name);
  }
  // Windows has no such signals, and PID 1 of a container ignores them.
  process.exit(exitCodes.interrupted);
}

/** Watches SIGINT and SIGTERM until disposed, for a run whose progress is on the screen. */
export const watchRunInterrupt = (io: CliIo, progress: { clear(): void }): Interrupt =>
  watchInterrupt(
    io,
    "Stopping; the last completed step is saved. Press Ctrl-C again to quit immediately.",
    progress,
  );

/** Watches SIGINT and SIGTERM until disposed; `says` what the first one does. */
export function watchInterrupt(
  { stderr }: CliIo,
  says: string,
  progress?: { clear(): void },
): Interrupt {
  const controller = new AbortController();
  const onSignal = (name: "SIGINT" | "SIGTERM"): void => {
    if (controller.signal.aborted) {
      dieOf(name);
      return;
    }
    progress?.clear();
    stderr.write(`${says}\n`);
    controller.abort(
      new AgentTrainerError({ code: "ABORTED", message: "The run was interrupted." }),
    );
  };
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  return {
    signal: controller.signal,
    [Symbol.dispose]() {
      process.off("SIGINT", onSignal);
      process.off("SIGTERM", onSignal);
    },
  };
}
