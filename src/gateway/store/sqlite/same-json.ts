/** Equality of JSON values, whatever the order of their keys. An absent field equals `undefined`. */

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function present(value: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(value).filter((key) => value[key] !== undefined);
}

export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (!isRecord(a) || !isRecord(b) || Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = present(a);
  return keys.length === present(b).length && keys.every((key) => sameJson(a[key], b[key]));
}
