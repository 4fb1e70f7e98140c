/** Ctrl-C: the first one asks the run to stop and save, the second leaves at once. */
import { AgentTrainerError } from "../../core/errors.ts";
import { exitCodes } from "./exit-codes.ts";

export interface Interrupt extends Disposable {
  readonly signal: AbortSignal;
}

/**
 * Dies of the signal itself, which a shell shows as 130 or 143. `process.exit` would tear down the
 * engine's thread in the middle of a native call, and that aborts.
 */
function dieOf(name: "SIGINT" | "SIGTERM"): void {
  process.emit("exit", exitCodes.interrupted);
  if (process.platform !== "win32") {
    process.removeAllListeners(name);
    process.kill(process.pid, name);
  }
  // Windows has no such signals, and the first process of a container does not die of them.
  process.exit(exitCodes.interrupted);
}

/** Watches SIGINT and SIGTERM until disposed. */
export function watchInterrupt(onFirst: () => void): Interrupt {
  const controller = new AbortController();
  const onSignal = (name: "SIGINT" | "SIGTERM"): void => {
    if (controller.signal.aborted) {
      dieOf(name);
      return;
    }
    onFirst();
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
