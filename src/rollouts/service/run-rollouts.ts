/** Running many rollouts: what a loop asks for. */
import type { UnstampedEvent } from "../../core/events.ts";
import type { Episode } from "../../core/trajectory.ts";
import type { RolloutRequest } from "../rollout-request.ts";

export interface RolloutOptions {
  readonly isValidation: boolean;
  readonly signal: AbortSignal;
  /** When more rollouts than this have failed, the rest are cut off and returned as `aborted`. */
  readonly maxFailures?: number;
  readonly onEvent: (event: UnstampedEvent) => void;
}

/** Runs rollouts; resolves with one episode per request, in the same order. */
export type RunRollouts = (
  requests: readonly RolloutRequest[],
  options: RolloutOptions,
) => Promise<readonly Episode[]>;
