/** Opens and closes sessions so that none is left open and none blocks a rollout. */
import type { RolloutSession, SessionHost, SessionOptions } from "../../core/session.ts";
import { raceAbort } from "../../util/abort.ts";
import { startDeadline } from "../../core/deadline.ts";
import { errorFacts } from "../failures/error-facts.ts";

const closeTimeoutMs = 10_000;

/** Rejects with the signal's reason; a session that opens after that is closed right away. */
export async function openSession(
  host: SessionHost,
  options: SessionOptions,
  signal: AbortSignal,
): Promise<RolloutSession> {
  signal.throwIfAborted();
  const opening = (async () => await host.open(options))();
  try {
    return await raceAbort(opening, signal);
  } catch (error) {
    void opening.then(
      (late) => closeSession(late),
      () => {},
    );
    throw error;
  }
}

/** Never rejects: resolves with the error message, or null. */
export async function closeSession(session: RolloutSession): Promise<string | null> {
  const deadline = startDeadline("Closing it", closeTimeoutMs);
  try {
    await raceAbort((async () => await session.close())(), deadline.signal);
    return null;
  } catch (error) {
    return `Session "${session.uid}" was not closed: ${errorFacts(error).message}`;
  } finally {
    deadline.dispose();
  }
}
