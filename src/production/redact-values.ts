/** Plain data without keys of services: every text in it, as deep as it is kept. */
import { redactField, redactKept } from "../util/redact.ts";

/** Deeper than any message or schema; readers of JSON go less deep than writers of telemetry. */
const maxDepth = 200;
/** In place of what is nested deeper. */
export const tooDeep = "[nested too deeply]";

export function redactValues<T>(value: T, depth = 0): T {
  if (typeof value === "string") return redactKept(value) as T;
  if (typeof value !== "object" || value === null) return value;
  if (depth === maxDepth) return tooDeep as T;
  if (Array.isArray(value)) return value.map((own) => redactValues(own, depth + 1)) as T;
  return Object.fromEntries(
    Object.entries(value).map(([key, own]) => [
      redactKept(key),
      typeof own === "string" ? redactField(key, own) : redactValues(own as unknown, depth + 1),
    ]),
  ) as T;
}
