/** Reads a field of an untrusted object, whose getters may throw. */
export function readField(holder: object, key: string): unknown {
  try {
    return (holder as Readonly<Record<string, unknown>>)[key];
  } catch {
    return undefined;
  }
}
