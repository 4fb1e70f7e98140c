/**
 * Ends of a run that no `await` sees: the process exits during it, or an error that belongs to no
 * rollout escapes.
 */
import { AgentTrainerError } from "../core/errors.ts";
import { watchStrayErrors } from "../rollouts/failures/stray-errors.ts";

/** Exit statuses of a process that was interrupted by SIGINT or SIGTERM. */
const interrupts: ReadonlySet<number> = new Set([130, 143]);

export interface RunGuard extends Disposable {
  /** Aborts when an error escaped that belongs to no rollout. */
  readonly signal: AbortSignal;
  /** That error, as the run's own; null while there is none. */
  readonly failure: AgentTrainerError | null;
}

export interface RunExit {
  readonly status: "interrupted" | "failed";
  readonly message: string;
}

function strayFailure(error: unknown, kind: "rejection" | "exception"): AgentTrainerError {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  const place = error instanceof Error ? /\n\s+at (.+)/u.exec(error.stack ?? "")?.[1] : undefined;
  const how =
    kind === "rejection"
      ? "A promise that nothing awaits rejected"
      : "A timer or an event handler threw";
  return new AgentTrainerError({
    code: "USER_CODE_FAILED",
    message: `${how} outside of every rollout, which ended the run: ${text}${place === undefined ? "" : ` (at ${place})`}`,
    hint: "Catch it there. Completed steps are saved, so the run can be resumed.",
    cause: error,
    fields: { kind },
  });
}

/**
 * Watches a run until disposed. `onExit` is called while the process exits: only its synchronous work
 * is done.
 */
export function guardRun(onExit: (exit: RunExit) => void): RunGuard {
  const controller = new AbortController();
  let failure: AgentTrainerError | null = null;
  const strays = watchStrayErrors((error, kind) => {
    failure ??= strayFailure(error, kind);
    controller.abort(failure);
  });
  const exiting = (code: number): void => {
    const isInterrupt = interrupts.has(code);
    // A run without a result must not look like one that completed.
    if (code === 0) process.exitCode = 1;
    onExit({
      status: isInterrupt ? "interrupted" : "failed",
      message: `The process exited with status ${code} during the run.`,
    });
  };
  process.once("exit", exiting);
  return {
    signal: controller.signal,
    get failure() {
      return failure;
    },
    [Symbol.dispose]() {
      process.off("exit", exiting);
      strays[Symbol.dispose]();
    },
  };
}
