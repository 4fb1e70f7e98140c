/** Which thrown values end a rollout with a reason instead of failing the attempt. */
import { TerminationEvent } from "../core/termination.ts";
import type { TerminationReason, Trajectory } from "../core/trajectory.ts";
import { readField } from "../util/read-field.ts";

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
    error = readField(error, "cause");
  }
  return null;
}

/**
 * How a program ended that did not say so itself: by a response that was cut off where a trajectory that
 * trains ends with one, else by returning.
 */
export function endingOf(trajectories: readonly Trajectory[]): TerminationReason {
  const isCut = trajectories.some(
    ({ untrained, steps }) => untrained === undefined && steps.at(-1)?.stopReason === "length",
  );
  return isCut ? "max_response_length_exceeded" : "completed";
}

const isObject = (value: unknown): value is Fields => typeof value === "object" && value !== null;

/** Of the error itself, of the body that it holds, and of the error in that body. */
function codesOf(error: Fields): unknown[] {
  const bodies = [readField(error, "error"), readField(error, "data")].filter(isObject);
  const inner = bodies.map((body) => readField(body, "error")).filter(isObject);
  return [error, ...bodies, ...inner].flatMap((of) => [
    readField(of, "code"),
    readField(of, "type"),
  ]);
}
