/** What can go wrong between this machine and a model hub. */
import { AgentTrainerError, type ErrorDetails } from "../../core/errors.ts";

export type HubFailure =
  | "not-found"
  | "refused"
  | "rate-limited"
  | "unreachable"
  | "damaged"
  | "unsupported"
  | "offline";

export interface HubErrorDetails extends Omit<ErrorDetails, "code"> {
  readonly reason: HubFailure;
}

/** A model cannot be found on, or fetched from, a hub; `fields.reason` says why. */
export class HubError extends AgentTrainerError {
  override readonly name = "HubError";
  readonly reason: HubFailure;
  constructor({ reason, fields, ...details }: HubErrorDetails) {
    super({ code: "HUB_FAILED", ...details, fields: { ...fields, reason } });
    this.reason = reason;
  }
}
