/**
 * How anything that is recorded ends: by itself, interrupted, failed, or as no `await` sees it, when the
 * process exits or an error that belongs to no rollout escapes.
 */
import { AgentTrainerError } from "../core/errors.ts";
import { fileError } from "../core/file-error.ts";
import { watchStrayErrors } from "../rollouts/failures/stray-errors.ts";

/** Exit statuses of a process that was interrupted by SIGINT or SIGTERM. */
const interrupts: ReadonlySet<number> = new Set([130, 143]);

interface RunGuard extends Disposable {
  /** Aborts when an error escaped that belongs to no rollout. */
  readonly signal: AbortSignal;
  /** That error, as the run's own; null while there is none. */
  readonly failure: AgentTrainerError | null;
}

export interface RunExit {
  readonly status: "interrupted" | "failed";
  readonly message: string;
}

/** What is guarded, as messages name it. */
type WorkName = "run" | "evaluation";

function strayFailure(
  what: WorkName,
  error: unknown,
  kind: "rejection" | "exception",
): AgentTrainerError {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  const place = error instanceof Error ? /\n\s+at (.+)/u.exec(error.stack ?? "")?.[1] : undefined;
  const how =
    kind === "rejection"
      ? "A promise that nothing awaits rejected"
      : "A timer or an event handler threw";
  return new AgentTrainerError({
    code: "USER_CODE_FAILED",
    message: `${how} outside of every rollout, which ended the ${what}: ${text}${place === undefined ? "" : ` (at ${place})`}`,
    hint: `Catch it there. Completed ${what === "run" ? "steps" : "attempts"} are saved, so the ${what} can be resumed.`,
    cause: error,
    fields: { kind },
  });
}

/**
 * Watches until disposed. `onExit` is called while the process exits: only its synchronous work
 * is done.
 */
function guardRun(what: WorkName, onExit: (exit: RunExit) => void): RunGuard {
  const controller = new AbortController();
  let failure: AgentTrainerError | null = null;
  const strays = watchStrayErrors((error, kind) => {
    failure ??= strayFailure(what, error, kind);
    controller.abort(failure);
  });
  const exiting = (code: number): void => {
    const wasInterrupted = interrupts.has(code);
    // A run without a result must not look like one that completed.
    if (code === 0) process.exitCode = 1;
    onExit({
      status: wasInterrupted ? "interrupted" : "failed",
      message: `The process exited with status ${code} during the ${what}.`,
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

/** True when the error is the signal taking effect, not an unrelated failure. */
export function isInterrupt(error: unknown, signal: AbortSignal): boolean {
  if (!signal.aborted) return false;
  return (
    !AgentTrainerError.isInstance(error) || error.code === "ABORTED" || error === signal.reason
  );
}

export interface Guarded<Result> {
  readonly what: WorkName;
  /** Of the caller. */
  readonly signal: AbortSignal;
  /** While the process exits: only synchronous work is done. */
  readonly onExit: (exit: RunExit) => void;
  /** @param escaped an error that belongs to no rollout; null while there is none */
  readonly work: (signal: AbortSignal, escaped: () => AgentTrainerError | null) => Promise<Result>;
  readonly onInterrupt: () => Promise<Result> | Result;
  /** Records it; the error is thrown after that. */
  readonly onFailure: (failure: unknown) => Promise<void> | void;
}

/** Runs `work` under a guard, to an end that is recorded whatever happens. */
export async function runGuarded<Result>(guarded: Guarded<Result>): Promise<Result> {
  using guard = guardRun(guarded.what, guarded.onExit);
  try {
    const signal = AbortSignal.any([guarded.signal, guard.signal]);
    return await guarded.work(signal, () => guard.failure);
  } catch (error) {
    if (guard.failure === null && isInterrupt(error, guarded.signal)) {
      return await guarded.onInterrupt();
    }
    const failure = guard.failure ?? error;
    await guarded.onFailure(failure);
    throw fileError(failure) ?? failure;
  }
}
