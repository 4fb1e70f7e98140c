/**
 * Optional fields of an object literal, which `exactOptionalPropertyTypes` requires to be omitted where there
 * is no value: `{ code, ...defined({ hint }) }`.
 */

/** The same fields without those that are undefined. */
export function defined<T extends object>(fields: {
  readonly [K in keyof T]: T[K] | undefined;
}): Partial<T> {
  const present: Partial<T> = {};
  for (const name in fields) if (fields[name] !== undefined) present[name] = fields[name];
  return present;
}
