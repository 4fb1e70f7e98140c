/**
 * Many rollouts at once. Knows sessions by contract only, and nothing of steps, groups or training.
 */
import { ConfigError } from "../core/errors.ts";
import type { SessionOptions } from "../core/session.ts";
import type { Episode } from "../core/trajectory.ts";
import { mapConcurrent } from "../util/concurrency.ts";
import type { RolloutEvent } from "./rollout-event.ts";
import { runRollout } from "./rollout.ts";
import type { RolloutRequest, RolloutSetup } from "./rollout.ts";

export interface RolloutRunOptions {
  /** Enforced by the gateway, whatever the agent sends. */
  readonly sampling: SessionOptions["sampling"];
  readonly isValidation: boolean;
  /** Aborting it closes all sessions and rejects the run with its reason. */
  readonly signal: AbortSignal;
  /** Called as things happen; must not throw. */
  readonly onEvent?: (event: RolloutEvent) => void;
}

export interface RolloutRunner<Metadata = Record<string, unknown>> {
  /**
   * One episode per request, in their order. A rollout that fails is an episode that says so, with
   * `terminationReason` "error" or "timeout", and costs the others nothing.
   */
  run(
    requests: readonly RolloutRequest<Metadata>[],
    options: RolloutRunOptions,
  ): Promise<readonly Episode[]>;
}

/** @throws ConfigError when the flow or the evaluator is not something that can be called. */
export function createRolloutRunner<Metadata = Record<string, unknown>>(
  setup: RolloutSetup<Metadata>,
): RolloutRunner<Metadata> {
  requireCallable("agentFlow", setup.flow, "run");
  requireCallable("evaluator", setup.evaluator, "evaluate");
  return {
    run: async (requests, { sampling, isValidation, signal, onEvent }) =>
      await mapConcurrent(
        requests,
        setup.limits.concurrency,
        async (request, _index, own) =>
          await runRollout(setup, request, {
            sampling,
            isValidation,
            signal: own,
            emit: (event) => onEvent?.(event),
          }),
        signal,
      ),
  };
}

function requireCallable(what: string, value: unknown, method: string): void {
  if (typeof value === "function") return;
  if (typeof value === "object" && value !== null && method in value) {
    const member = (value as Readonly<Record<string, unknown>>)[method];
    if (typeof member === "function") return;
  }
  throw new ConfigError({
    message: `${what} must be a function, or an object with a method ${method}(), but is ${value === null ? "null" : typeof value}.`,
    hint: `Pass a function (task, ...) => ..., or { ${method}(task, ...) { ... } }.`,
    fields: { what },
  });
}
