/**
 * Objects with optional fields, which `exactOptionalPropertyTypes` requires to be omitted where there is no
 * value.
 */

/** The same fields without those that are undefined. */
export function defined<T extends object>(fields: {
  readonly [K in keyof T]: T[K] | undefined;
}): T {
  const present: Partial<Record<keyof T, unknown>> = {};
  for (const name in fields) if (fields[name] !== undefined) present[name] = fields[name];
  return present as T;
}
