/** Plain data without anything that looks like a key: every text in it, at any depth. */
import { redact } from "../util/redact.ts";

export function redactValues<T>(value: T): T {
  if (typeof value === "string") return redact(value) as T;
  if (Array.isArray(value)) return value.map(redactValues) as T;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, own]) => [key, redactValues(own as unknown)]),
  ) as T;
}
