/** What can go wrong between this machine and a model hub. */
import { AgentTrainerError } from "../../core/errors.ts";

export type HubFailure =
  | "not-found"
  | "refused"
  | "rate-limited"
  | "unreachable"
  | "damaged"
  | "unsupported"
  | "offline";

export interface HubErrorDetails {
  readonly reason: HubFailure;
  readonly message: string;
  readonly hint?: string;
  readonly cause?: unknown;
  readonly fields?: Readonly<Record<string, unknown>>;
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
