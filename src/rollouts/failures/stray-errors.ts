/**
 * Errors of user code that nothing awaits: unhandled rejections, throws in timers, and
 * `process.exit`. Node keeps the asynchronous context of each, which identifies its attempt. Those
 * that belong to none go to the watchers.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { inspect } from "node:util";
import { AgentTrainerError } from "../../core/errors.ts";
import { raceAbort } from "../../util/abort.ts";
import type { Deadline } from "../../core/deadline.ts";
import { errorFacts } from "./error-facts.ts";

/** An attempt at a task, as far as its stray errors are concerned. */
interface AttemptScope {
  /** Names the attempt in messages. */
  readonly what: string;
  readonly onWarning: (message: string) => void;
  /** The part of the attempt that waits for user code now; null before, between and after. */
  waiting: Deadline | null;
  /** The last part of it that did: what its abort stops may still reject. */
  last: Deadline | null;
}

/** An uncaught error outside of all attempts. */
type StrayKind = "rejection" | "exception";
type OnUnowned = (error: unknown, kind: StrayKind) => void;

const scopes = new AsyncLocalStorage<AttemptScope>();
const watchers = new Set<OnUnowned>();

/** Each error text is reported once: a timer that throws would repeat it indefinitely. */
const told = new Set<string>();
const maxShown = 20;

/** Runs an attempt at a task: hooks, program and evaluator. `what` names it in warnings. */
export function withinAttempt<T>(
  what: string,
  onWarning: (message: string) => void,
  work: () => Promise<T>,
): Promise<T> {
  return scopes.run({ what, onWarning, waiting: null, last: null }, work);
}

/**
 * Runs user code until it ends or the deadline's signal aborts. A stray error of the attempt rejects
 * it as if the code had thrown it.
 */
export async function raceUserCode<T>(work: () => Promise<T>, deadline: Deadline): Promise<T> {
  const scope = scopes.getStore();
  if (scope === undefined) return await raceAbort(work(), deadline.signal);
  scope.waiting = deadline;
  scope.last = deadline;
  try {
    return await raceAbort(work(), deadline.signal);
  } finally {
    if (scope.waiting === deadline) scope.waiting = null;
  }
}

/** True for an error that an aborted signal causes in calls that nothing awaits any more. */
function isAftermath(error: unknown, { last }: AttemptScope): boolean {
  if (last === null || !last.signal.aborted) return false;
  if (error === last.signal.reason) return true;
  if (typeof error !== "object" || error === null) return false;
  const { name, constructor } = error as { name?: unknown; constructor?: { name?: unknown } };
  return name === "AbortError" || constructor?.name === "APIUserAbortError";
}

function settle(error: unknown, kind: StrayKind, scope: AttemptScope): void {
  if (isAftermath(error, scope)) return;
  const { name, message } = errorFacts(error);
  const { waiting } = scope;
  waiting?.abort(error);
  const text = `${name}: ${message}`;
  if (told.has(text) || told.size >= maxShown) return;
  told.add(text);
  const how =
    kind === "rejection" ? "a promise that nothing awaits" : "a timer or an event handler";
  const effect =
    waiting === null ? "which had ended already, so it changes nothing" : "and fails it";
  const rest = told.size === maxShown ? " Further errors of this kind are not shown." : "";
  scope.onWarning(`An error from ${how} belongs to ${scope.what}, ${effect}: ${text}.${rest}`);
}

function onStray(error: unknown, kind: StrayKind, event: string): void {
  const scope = scopes.getStore();
  if (scope !== undefined) {
    try {
      settle(error, kind, scope);
      return;
    } catch {
      // Its run has ended, so its run log is closed; now the error belongs to no run.
    }
  }
  // Programs that handle such errors themselves keep doing so.
  if (process.listenerCount(event) > 1) return;
  for (const watcher of watchers) watcher(error, kind);
  if (watchers.size > 0) return;
  // Between two runs of a process that is guarded throughout.
  process.stderr.write(`${inspect(error)}\n`);
  if (scope === undefined) realExit!.call(process, 1);
}

const onRejection = (error: unknown): void => onStray(error, "rejection", "unhandledRejection");
const onException = (error: unknown): void => onStray(error, "exception", "uncaughtException");

/** In an agent, it ends that attempt; anywhere else, the process. */
function refuseExit(exit: typeof process.exit): typeof process.exit {
  return (code) => {
    const scope = scopes.getStore();
    if (scope === undefined) return exit.call(process, code);
    const error = new AgentTrainerError({
      code: "ROLLOUT_FAILED",
      message: `process.exit(${code ?? ""}) was called in ${scope.what}; it would have ended the whole run.`,
      hint: "Return from the agent, or throw an error to fail its rollout.",
      fields: { exitCode: code ?? null },
    });
    scope.waiting?.abort(error);
    throw error;
  };
}

let realExit: typeof process.exit | null = null;
let guards = 0;

/**
 * Until disposed, `process.exit` in what a rollout started throws there, also after the rollout's end and its run's:
 * what is left of one cannot decide how the process ends.
 */
export function guardProcess(): Disposable {
  if (guards++ === 0) {
    process.on("unhandledRejection", onRejection);
    process.on("uncaughtException", onException);
    // oxlint-disable-next-line typescript/unbound-method -- it is called with its own `this`
    realExit = process.exit;
    process.exit = refuseExit(realExit);
  }
  let isHeld = true;
  return {
    [Symbol.dispose]() {
      if (!isHeld) return;
      isHeld = false;
      if (--guards > 0) return;
      process.off("unhandledRejection", onRejection);
      process.off("uncaughtException", onException);
      process.exit = realExit!;
      realExit = null;
    },
  };
}

/**
 * Handles stray errors until disposed: those of attempts fail them, others go to `onUnowned` unless
 * the program has its own listener for them.
 */
export function watchStrayErrors(onUnowned: OnUnowned): Disposable {
  // A new function, since the same one may be registered twice.
  const watcher: OnUnowned = (error, kind) => onUnowned(error, kind);
  watchers.add(watcher);
  const guard = guardProcess();
  return {
    [Symbol.dispose]() {
      watchers.delete(watcher);
      // The next run in this process reports them again.
      if (watchers.size === 0) told.clear();
      guard[Symbol.dispose]();
    },
  };
}
