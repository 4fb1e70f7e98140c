/** The error of every environment: what it did, where, and whether another attempt makes sense. */
import { AgentTrainerError } from "../../core/errors.ts";
import { redact } from "../../util/redact.ts";
import { plainText } from "./plain-text.ts";

export interface EnvironmentFault {
  /** Another attempt would fail in the same way. @default false */
  readonly isFinal?: boolean;
  readonly hint?: string | undefined;
  readonly cause?: unknown;
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** An `ENVIRONMENT_FAILED`; what a server said is cleaned and cut to a length that a log can hold. */
export function environmentError(message: string, fault: EnvironmentFault = {}): AgentTrainerError {
  const { isFinal = false, hint, cause, fields = {} } = fault;
  return new AgentTrainerError({
    code: "ENVIRONMENT_FAILED",
    message: redact(plainText(message, 2000)),
    ...(hint === undefined ? {} : { hint }),
    ...(cause === undefined ? {} : { cause }),
    fields: { ...fields, isFinal },
  });
}
