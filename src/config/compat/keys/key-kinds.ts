/** What a key of another trainer may be here, and conversions of its value that several keys share. */

/** Leave the option at its default. */
export const unset: unique symbol = Symbol("unset");

/** The value of an option as far as it is known. */
export interface Look {
  /** What was translated, else its default. */
  (key: string): unknown;
  /** What was translated; undefined for what was not given. */
  readonly given: (key: string) => unknown;
}

/** An option under another name. */
export interface Renamed {
  readonly from: string;
  /** Our keys; several get the same value. */
  readonly to: string | readonly string[];
  /** Converts their value to ours. @default the same, and `null` leaves ours at its default */
  readonly read?: (value: unknown, look: Look) => unknown;
  /** The value is a list with one entry for each of `to`. @default false */
  readonly each?: boolean;
  /** Yields to any other name of the same option in the same file or command line. @default false */
  readonly weak?: boolean;
  /** Read after all others, and replaces what their names of the option set. @default false */
  readonly last?: boolean;
  /** Together with others of its section it is one option: what is given is only collected. @default false */
  readonly gathered?: boolean;
  /** Why a value is not supported. @default all are */
  readonly refuse?: (value: unknown, look: Look) => string | undefined;
  /** The part of an accepted value that has no effect, and why. @default none has */
  readonly note?: (value: unknown) => { readonly part: string; readonly why: string } | undefined;
  /** Backends that have a separate option for it: our key. */
  readonly on?: Readonly<Record<string, string>>;
}

/** A key without an option: accepted with values that match what happens anyway. */
export interface Fixed {
  readonly from: string;
  /** Accepted values: those that match what happens anyway. */
  readonly only: readonly unknown[];
  /** Values that are accepted with a notice, since they differ in nothing that is trained. @default none */
  readonly noted?: readonly unknown[];
  /** Why no other is accepted, or what to use instead. */
  readonly why: string;
  /** Backends that have an option for it: our key. */
  readonly on?: Readonly<Record<string, string>>;
  /** Backends where other values match what happens anyway. */
  readonly onlyOn?: Readonly<Record<string, readonly unknown[]>>;
}

/** A key that changes nothing here: one notice names all of them. */
export interface Idle {
  readonly from: string;
  /** What happens anyway, or who reads it. */
  readonly idle: string;
  /** Values that need no notice, besides `null`; `any` for all. @default none */
  readonly usual?: readonly unknown[] | "any";
}

/** A name that ends in `*` covers everything that begins so and has no separate entry. */
export type CompatKey = Renamed | Fixed | Idle;

/** Entries for several names with the same prefix that all have no effect for the same reason. */
export const idleKeys = (
  prefix: string,
  names: readonly string[],
  idle: string,
  usual: readonly unknown[] = [],
): readonly Idle[] => names.map((name) => ({ from: prefix + name, idle, usual }));

export const orUnset = (value: unknown): unknown => value ?? unset;

/** Negative numbers, which mean "off" or "none" elsewhere, as 0. */
export const from0 = (value: unknown): unknown =>
  typeof value === "number" && value < 0 ? 0 : orUnset(value);

/** Numbers that mean "all" or "no limit" elsewhere leave ours at its default. */
export const aboveZero = (value: unknown): unknown =>
  typeof value === "number" && value <= 0 ? unset : orUnset(value);

type ReadValue = (value: unknown) => unknown;

export const byName =
  (names: Readonly<Record<string, unknown>>) =>
  (value: unknown): unknown =>
    typeof value === "string" ? (names[value] ?? value) : orUnset(value);

export const lossNames: ReadValue = byName({
  vanilla: "ppo",
  grpo: "ppo",
  dapo: "ppo",
  "importance-sampling": "importance_sampling",
  geo_mean: "gmpo",
});
export const klNames: ReadValue = byName({ kl: "k1", mse: "k2", low_var_kl: "k3" });
export const estimators: ReadValue = byName({ grpo_vectorized: "grpo", rloo_vectorized: "rloo" });
