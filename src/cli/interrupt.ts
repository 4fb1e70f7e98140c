/** Ctrl-C: the first one asks the run to stop and save, the second leaves at once. */
import { AgentTrainerError } from "../core/errors.ts";
import { exitCodes } from "./exit-codes.ts";

export interface Interrupt extends Disposable {
  readonly signal: AbortSignal;
}

/** Watches SIGINT and SIGTERM until disposed. */
export function watchInterrupt(onFirst: () => void): Interrupt {
  const controller = new AbortController();
  const onSignal = (): void => {
    if (controller.signal.aborted) process.exit(exitCodes.interrupted);
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
