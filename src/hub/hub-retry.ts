/** Another try after failures that pass, as long as tries bring something or are few. */
import { delay } from "../util/abort.ts";
import { PassingFailure } from "./hub-request.ts";
import type { HubConnection } from "./hub-request.ts";

const maxPauseMs = 30_000;

/** Tells that a try got further than the one before. */
export type NoteProgress = () => void;

/** @throws HubError of the last try; the signal's reason */
export async function withRetries<T>(
  hub: HubConnection,
  signal: AbortSignal,
  attempt: (noteProgress: NoteProgress) => Promise<T>,
): Promise<T> {
  for (let failed = 0; ;) {
    try {
      return await attempt(() => (failed = 0));
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof PassingFailure)) throw error;
      failed += 1;
      if (failed >= hub.maxTries) throw error.error;
      const pause = Math.min(hub.retryMs * 2 ** (failed - 1), maxPauseMs);
      await delay(error.afterMs ?? pause, signal);
    }
  }
}

/** A signal that also aborts after `ms` without a sign of life. */
export function silenceGuard(
  signal: AbortSignal,
  ms: number,
): { readonly signal: AbortSignal; alive(): void; end(): void } {
  const controller = new AbortController();
  const onAbort = (): void => controller.abort(signal.reason);
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  const onSilence = (): void => controller.abort(new Error(`nothing came for ${ms} ms`));
  let timer = setTimeout(onSilence, ms);
  return {
    signal: controller.signal,
    alive() {
      clearTimeout(timer);
      timer = setTimeout(onSilence, ms);
    },
    end() {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    },
  };
}
