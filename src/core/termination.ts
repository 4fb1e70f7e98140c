/** How user code ends a rollout on purpose. */
import type { TerminationReason } from "./trajectory.ts";

const marker = Symbol.for("agent-trainer.termination");

/**
 * Thrown by a flow or a workflow to end the rollout with a reason: what was captured so far is kept
 * and scored, and nothing is retried.
 */
export class TerminationEvent extends Error {
  override readonly name = "TerminationEvent";
  /** The reason that the rollout ends with. */
  readonly reason: TerminationReason;

  constructor(reason: TerminationReason = "unknown") {
    super(`The rollout ended: ${reason}.`);
    Object.defineProperty(this, marker, { value: true });
    this.reason = reason;
  }

  /** Also true for an instance created by another copy of the package. */
  static isInstance(value: unknown): value is TerminationEvent {
    return typeof value === "object" && value !== null && marker in value;
  }
}
