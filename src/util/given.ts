/** Arguments that may be omitted, for which `null` and `undefined` mean the same. */

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
