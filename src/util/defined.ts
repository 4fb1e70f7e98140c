/**
 * Optional fields of an object literal, which `exactOptionalPropertyTypes` requires to be omitted where there
 * is no value: `{ code, ...defined({ hint }) }`.
 */

/** Whether code passed a value. */
export const isGiven = <T>(value: T | null | undefined): value is T =>
  value !== undefined && value !== null;

/** The same options without those that are not given. */
export type GivenOf<T> = { [K in keyof T]: Exclude<T[K], null> };

/** Leaves out what is `null` or `undefined`. */
export function givenOf<T extends object>(options: T): GivenOf<T> {
  return Object.fromEntries(
    Object.entries(options).filter(([, value]) => isGiven(value)),
  ) as GivenOf<T>;
}

/** The same fields without those that are undefined. */
export function defined<T extends object>(fields: {
  readonly [K in keyof T]: T[K] | undefined;
}): Partial<T> {
  const present: Partial<T> = {};
  for (const name in fields) if (fields[name] !== undefined) present[name] = fields[name];
  return present;
}
