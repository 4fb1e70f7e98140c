/** Which thrown values end a rollout with a reason instead of failing the attempt. */
import { TerminationEvent } from "../../core/termination.ts";
import type { TerminationReason, Trajectory } from "../../core/trajectory.ts";
import { defined } from "../../util/defined.ts";
import { readField } from "./fault.ts";
import { errorFacts, type ErrorFacts } from "./error-facts.ts";

/** Depth to which causes are inspected; SDKs wrap errors a few times. */
const deepestCause = 4;

type Fields = Readonly<Record<string, unknown>>;

/** How a thrown value ends a rollout. */
export interface ThrownEnding {
  readonly terminationReason: TerminationReason;
  /** What ended it, where the program did not decide it. */
  readonly error?: ErrorFacts;
}

/**
 * `null` for a failure. A prompt that is too long stays too long, so it is not retried; SDKs store
 * the server's code in different places.
 */
export function endedBy(thrown: unknown): ThrownEnding | null {
  if (TerminationEvent.isInstance(thrown)) {
    const { reason } = thrown;
    return reason === "error" ? null : { terminationReason: reason };
  }
  let error = thrown;
  for (let depth = 0; depth < deepestCause && isObject(error); depth++) {
    if (isOverflow(error))
      return { terminationReason: "max_prompt_length_exceeded", error: overflowFacts(error) };
    error = readField(error, "cause");
  }
  return null;
}

/** The server's own sentence, which clients put between other words: how many tokens, and which limit. */
const sentence =
  /\bThe prompt has (?:at least )?[\d,]+ tokens, but (?:the )?(?<limit>\S+) [^\n]{1,200}?\.(?=\s|"|$)/u;

function overflowFacts(thrown: Fields): ErrorFacts {
  const { message, stack } = errorFacts(thrown);
  const texts = [message, ...holdersOf(thrown).map((holder) => readField(holder, "message"))];
  const found = texts.map((text) => (typeof text === "string" ? sentence.exec(text) : null));
  const match = found.find((each) => each !== null);
  const limit = match?.groups?.["limit"] ?? "";
  return {
    name: "ContextOverflowError",
    message: match?.[0] ?? message,
    ...defined({ stack }),
    code: "CONTEXT_OVERFLOW",
    hint: `Shorten the conversation, or ${limit.includes(".") ? `raise ${limit}` : "use a model with a longer context"}.`,
  };
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
