/** Which thrown values end a rollout with a reason instead of failing the attempt. */
import { TerminationEvent } from "../core/termination.ts";
import type { TerminationReason } from "../core/trajectory.ts";

/** Causes of causes that are looked at; SDKs wrap errors a few times. */
const deepestCause = 4;

type Fields = Readonly<Record<string, unknown>>;

/**
 * `null` for a failure. A prompt that is too long stays too long, so it is not tried again; SDKs carry
 * the server's code in different places.
 */
export function terminationOf(thrown: unknown): TerminationReason | null {
  if (TerminationEvent.isInstance(thrown)) return thrown.reason === "error" ? null : thrown.reason;
  let error = thrown;
  for (let depth = 0; depth < deepestCause && isObject(error); depth++) {
    if (codesOf(error).includes("context_length_exceeded")) return "max_prompt_length_exceeded";
    error = error["cause"];
  }
  return null;
}

const isObject = (value: unknown): value is Fields => typeof value === "object" && value !== null;

/** Of the error itself, of the body that it holds, and of the error in that body. */
function codesOf(error: Fields): unknown[] {
  const bodies = [error["error"], error["data"]].filter(isObject);
  const inner = bodies.map((body) => body["error"]).filter(isObject);
  return [error, ...bodies, ...inner].flatMap(({ code, type }) => [code, type]);
}
