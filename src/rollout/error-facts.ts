/** Anything that was thrown, and any value that was returned, as text. Never throws. */

import { AgentTrainerError } from "../core/errors.ts";

export interface ErrorFacts {
  readonly name: string;
  readonly message: string;
  readonly stack?: string;
  readonly code?: string;
  readonly hint?: string;
}

const longestText = 120;

/** Name, message and stack of anything that was thrown. */
export function errorFacts(thrown: unknown): ErrorFacts {
  if (!isErrorLike(thrown)) {
    return { name: "NonError", message: `${describeValue(thrown)} was thrown` };
  }
  const { name, message, stack } = thrown;
  return {
    name,
    message,
    ...(stack === undefined ? {} : { stack }),
    ...(AgentTrainerError.isInstance(thrown) ? { code: thrown.code } : {}),
    ...(AgentTrainerError.isInstance(thrown) && thrown.hint !== undefined
      ? { hint: thrown.hint }
      : {}),
  };
}

/** By shape, because errors of another realm (a vm, a worker) are no instances of this `Error`. */
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
  return text.length <= longestText ? text : `${text.slice(0, longestText)}...`;
}
