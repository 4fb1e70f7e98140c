/** The form of a method of Python's values. */
import type { Args, Value } from "../values.ts";

export type Method<T> = (self: T, args: Args) => Value;
export type Methods<T> = Readonly<Record<string, Method<T>>>;
