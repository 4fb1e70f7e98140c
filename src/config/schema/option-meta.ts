/**
 * What an option's schema entry says beyond its type and bounds: whether it may change when a run is
 * resumed, and which other options must be set for it to have an effect. Plain data, so that it survives
 * in the JSON Schema that `fields.ts` reads.
 */

/**
 * `free`: may change on resume. `fixed`, the default: a change is refused, or recorded when it is forced.
 * `never`: not even by force, since the meaning of a checkpoint depends on it.
 */
export type ResumeRule = "free" | "fixed" | "never";

/** One thing that must hold for an option to have an effect. */
export type Requirement =
  /** `option` has one of these values. For losses and estimators, those of single roles count, too. */
  | { readonly option: string; readonly is: readonly unknown[] }
  | { readonly option: string; readonly not: unknown }
  | { readonly option: string; readonly above: number }
  | { readonly anyOf: readonly Requirement[] }
  /** The run has validation tasks. */
  | { readonly data: "validation" };

export interface OptionMeta {
  readonly resume?: ResumeRule;
  /** All of them must hold. */
  readonly requires?: readonly Requirement[];
  /** The option whose value an unset one takes. */
  readonly inherits?: string;
}

type Meta = OptionMeta & Readonly<Record<string, unknown>>;

/** For `.meta(...)`: the option may change when a run is resumed. */
export const free: Meta = { resume: "free" };

/** For `.meta(...)`: the option has no effect unless all of these hold. */
export const needs = (...requires: readonly Requirement[]): Meta => ({ requires });

/** Both. */
export const freeAndNeeds = (...requires: readonly Requirement[]): Meta => ({
  ...free,
  requires,
});

/** `option=true` */
export const isOn = (option: string): Requirement => ({ option, is: [true] });

export const validationData: Requirement = { data: "validation" };
