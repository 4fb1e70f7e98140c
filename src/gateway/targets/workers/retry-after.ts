/** The `Retry-After` header: seconds or a date. */

/** Seconds from now; undefined when it says nothing that can be read. */
export function readRetryAfter(
  value: string | undefined,
  nowMs: number = Date.now(),
): number | undefined {
  if (value === undefined || value.trim() === "") return undefined;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return Math.max(0, seconds);
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, (date - nowMs) / 1000);
}
