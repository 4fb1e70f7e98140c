/** Objects in JSON that others wrote. */

/** The objects of a list that comes from outside; empty for what is not a list. */
export const listOf = (value: unknown): readonly JsonFields[] =>
  Array.isArray(value) ? value.filter(isJsonObject) : [];

export type JsonFields = Readonly<Record<string, unknown>>;

/** No list, no null and no single value. */
export function isJsonObject(value: unknown): value is JsonFields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What the text says; null where that is not an object, or it is not JSON. */
export function parseObject(text: string): JsonFields | null {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}
