/** Errors between this process and the bridge that trains. */
import { AgentTrainerError, type ErrorDetails } from "../../core/errors.ts";

/**
 * `start`: the bridge did not start; `lost`: it ended or cannot be reached; `refused`: it refused the
 * request; `engine`: the training engine failed; `version`: it speaks another protocol; `job`: Ray's
 * job did not start or failed.
 */
export type VerlFailure = "start" | "lost" | "refused" | "engine" | "version" | "job";

export interface VerlErrorDetails extends Omit<ErrorDetails, "code"> {
  readonly reason: VerlFailure;
}

/** Training through the bridge failed; `fields.reason` says why. */
export class VerlError extends AgentTrainerError {
  override readonly name = "VerlError";
  readonly reason: VerlFailure;
  constructor({ reason, fields, ...details }: VerlErrorDetails) {
    super({ code: "VERL_FAILED", ...details, fields: { ...fields, reason } });
    this.reason = reason;
  }
}
