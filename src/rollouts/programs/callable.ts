/** Checks that a user's value is a function, or an object with the required method. */
import { ConfigError } from "../../core/errors.ts";

export function isCallable(value: unknown, method: string): boolean {
  if (typeof value === "function") return true;
  if (typeof value !== "object" || value === null || !(method in value)) return false;
  return typeof (value as Readonly<Record<string, unknown>>)[method] === "function";
}

/** @throws ConfigError naming `what`. */
export function requireCallable(what: string, value: unknown, method: string): void {
  if (isCallable(value, method)) return;
  throw new ConfigError({
    message: `${what} must be a function, or an object with a method ${method}(), but is ${value === null ? "null" : typeof value}.`,
    hint: `Pass a function (task, ...) => ..., or { ${method}(task, ...) { ... } }.`,
    fields: { what },
  });
}

/** @throws ConfigError naming `what`. */
export function requireFunction(what: string, value: unknown): void {
  if (typeof value === "function") return;
  throw new ConfigError({
    message: `${what} must be a function, but is ${value === null ? "null" : typeof value}.`,
    fields: { what },
  });
}
