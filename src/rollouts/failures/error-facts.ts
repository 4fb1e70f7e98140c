/** Any thrown error, and any returned value, as text. Never throws. */

import { AgentTrainerError } from "../../core/errors.ts";
import { redact } from "../../util/redact.ts";

export interface ErrorFacts {
  readonly name: string;
  readonly message: string;
  readonly stack?: string;
  readonly code?: string;
  readonly hint?: string;
}

const maxTextLength = 120;

/** Name, message and stack of any thrown value, with API keys redacted. */
export function errorFacts(thrown: unknown): ErrorFacts {
  const { name, message, stack } = describeThrown(thrown);
  const facts = {
    name: redact(name),
    message: redact(message),
    ...(stack === undefined ? {} : { stack: redact(stack) }),
  };
  if (!AgentTrainerError.isInstance(thrown)) return facts;
  const { code, hint } = thrown;
  return { ...facts, code, ...(hint === undefined ? {} : { hint: redact(hint) }) };
}

/** The same without redaction, for code that inspects it. */
export function describeThrown(thrown: unknown): Pick<ErrorFacts, "name" | "message" | "stack"> {
  try {
    if (!isErrorLike(thrown)) {
      return { name: "NonError", message: `${describeValue(thrown)} was thrown` };
    }
    const { name, message, stack } = thrown;
    return { name, message, ...(typeof stack === "string" ? { stack } : {}) };
  } catch {
    return { name: "NonError", message: "an error that cannot be read was thrown" };
  }
}

/** By shape, because errors of another realm (a vm, a worker) are not instances of this `Error`. */
function isErrorLike(thrown: unknown): thrown is Error {
  if (typeof thrown !== "object" || thrown === null) return false;
  const { name, message } = thrown as Readonly<Record<string, unknown>>;
  return typeof name === "string" && typeof message === "string";
}

/** A short text for messages: `NaN`, `"text"`, `a function`, `{"a":1}`. */
export function describeValue(value: unknown): string {
  switch (typeof value) {
    case "function":
      return "a function";
    case "string":
    case "object":
      return shorten(toJson(value) ?? "an object");
    default:
      return String(value);
  }
}

function toJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

function shorten(text: string): string {
  return text.length <= maxTextLength ? text : `${text.slice(0, maxTextLength)}...`;
}
