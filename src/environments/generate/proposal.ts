/** A task with its solution, before anything was called. */
import type { EnvironmentTool } from "../../core/environment.ts";

export interface ProposedCall {
  readonly tool: string;
  /** A value may be {@link ResultLink}: what an earlier call answered. */
  readonly arguments: Readonly<Record<string, unknown>>;
}

export interface Proposal {
  readonly instruction: string;
  readonly calls: readonly ProposedCall[];
}

/** What an earlier call answered, or a part of it: `{ "$result": 0, "path": "items.0.id" }`. */
export interface ResultLink {
  readonly $result: number;
  readonly path?: string;
}

/** A tool of the server, and whether calling it changes anything. */
export interface OfferedTool extends EnvironmentTool {
  readonly isReadOnly: boolean;
}

/** One that can be called without knowing anything. */
export const needsNothing = ({ parameters }: OfferedTool): boolean =>
  !Array.isArray(parameters["required"]) || parameters["required"].length === 0;

export function isLink(value: unknown): value is ResultLink {
  return (
    typeof value === "object" &&
    value !== null &&
    Number.isInteger((value as { readonly $result?: unknown }).$result)
  );
}

/** JSON where a result is JSON, else its text. */
export function valueOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The arguments with what their links lead to; null where one leads nowhere. */
export function resolveLinks(
  given: Readonly<Record<string, unknown>>,
  results: readonly string[],
): Readonly<Record<string, unknown>> | null {
  const entries: [string, unknown][] = [];
  for (const [name, value] of Object.entries(given)) {
    const found = isLink(value) ? follow(value, results) : value;
    if (found === undefined) return null;
    entries.push([name, found]);
  }
  return Object.fromEntries(entries);
}

function follow({ $result: call, path = "" }: ResultLink, results: readonly string[]): unknown {
  const text = results[call];
  if (text === undefined || typeof path !== "string") return undefined;
  let value = valueOf(text);
  for (const key of path === "" ? [] : path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[key];
  }
  return value ?? undefined;
}
