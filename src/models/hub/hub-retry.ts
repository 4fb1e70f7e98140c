/** Another try after failures that may pass, as long as tries make progress or are few. */
import { startDeadline, type Deadline } from "../../core/deadline.ts";
import { backOffMs, retry } from "../../util/retry.ts";
import { PassingFailure, type HubConnection } from "./hub-request.ts";

const maxPauseMs = 30_000;

/** Reports that a try got further than the one before. */
export type NoteProgress = () => void;

/** @throws HubError of the last try; the signal's reason */
export function withRetries<T>(
  hub: HubConnection,
  signal: AbortSignal,
  attempt: (noteProgress: NoteProgress) => Promise<T>,
): Promise<T> {
  let failures = 0;
  const waitMs = (error: unknown): number | null => {
    if (!(error instanceof PassingFailure)) return null;
    failures += 1;
    if (failures >= hub.maxTries) throw error.error;
    return error.afterMs ?? backOffMs(failures, { firstMs: hub.retryMs, maxMs: maxPauseMs });
  };
  return retry(() => attempt(() => (failures = 0)), { waitMs, signal });
}

/** Restarted whenever something is received. */
export function silenceDeadline({ silenceMs }: HubConnection, signal: AbortSignal): Deadline {
  return startDeadline(new Error(`nothing came for ${silenceMs} ms`), silenceMs, signal);
}
