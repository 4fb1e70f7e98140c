/** Which thrown values end a rollout with a reason instead of failing the attempt. */
import { TerminationEvent } from "../../core/termination.ts";
import type { TerminationReason, Trajectory } from "../../core/trajectory.ts";
import { readField } from "../../util/read-field.ts";

/** Depth to which causes are inspected; SDKs wrap errors a few times. */
const deepestCause = 4;

type Fields = Readonly<Record<string, unknown>>;

/**
 * `null` for a failure. A prompt that is too long stays too long, so it is not retried; SDKs store
 * the server's code in different places.
 */
export function terminationOf(thrown: unknown): TerminationReason | null {
  if (TerminationEvent.isInstance(thrown)) return thrown.reason === "error" ? null : thrown.reason;
  let error = thrown;
  for (let depth = 0; depth < deepestCause && isObject(error); depth++) {
    if (isOverflow(error)) return "max_prompt_length_exceeded";
    error = readField(error, "cause");
  }
  return null;
}

/**
 * The termination reason of a program that did not report one: by a truncated response if a
 * trajectory that trains ends with one, else by returning.
 */
export function endingOf(trajectories: readonly Trajectory[]): TerminationReason {
  const isCut = trajectories.some(
    ({ untrained, steps }) =>
      untrained === undefined && steps.at(-1)?.trace.stopReason === "length",
  );
  return isCut ? "max_response_length_exceeded" : "completed";
}

const isObject = (value: unknown): value is Fields => typeof value === "object" && value !== null;

/** By OpenAI's code, or by the message that Anthropic's clients recognize. */
function isOverflow(thrown: Fields): boolean {
  return holdersOf(thrown).some((holder) => {
    const [code, type, message] = ["code", "type", "message"].map((key) => readField(holder, key));
    if (code === "context_length_exceeded" || type === "context_length_exceeded") return true;
    return typeof message === "string" && message.startsWith("prompt is too long: ");
  });
}

/** The error itself, the body that it holds, and the error in that body. */
function holdersOf(error: Fields): Fields[] {
  const bodies = [readField(error, "error"), readField(error, "data")].filter(isObject);
  const inner = bodies.map((body) => readField(body, "error")).filter(isObject);
  return [error, ...bodies, ...inner];
}
