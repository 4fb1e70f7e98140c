/**
 * What an option's schema entry says beyond its type and bounds: whether it may change when a run is
 * resumed, which other options must be set for it to have an effect, and what its values need of a
 * backend. Plain data, so that it survives in the JSON Schema that `fields.ts` reads.
 */
import type { z } from "zod";
import type { BackendCapabilities, MeasuredMetric } from "../../core/backend.ts";
import type { OptimField } from "../../core/loss/loss.ts";

/**
 * `free`: may change on resume. `fixed`, the default: a change is refused, or recorded when it is forced.
 * `never`: not even by force, since the meaning of a checkpoint depends on it.
 */
type ResumeRule = "free" | "fixed" | "never";

/** One thing that must hold for an option to have an effect. */
export type Requirement =
  /** `option` has one of these values. */
  | { readonly option: string; readonly is: readonly unknown[] }
  | { readonly option: string; readonly not: unknown }
  | { readonly option: string; readonly above: number }
  /** `option` is a list that has this value. */
  | { readonly option: string; readonly includes: unknown }
  | { readonly anyOf: readonly Requirement[] }
  /** The run has validation tasks. */
  | { readonly data: "validation" };

/**
 * Something that not every backend has. `trainer/check-capabilities.ts` finds out whether one does;
 * names of metrics stand for measuring them, names of the optimizer's fields for setting them.
 */
export type BackendNeed =
  | keyof Pick<
      BackendCapabilities,
      | "adapters"
      | "dualClip"
      | "entropyBonus"
      | "forward"
      | "loraAlpha"
      | "loraTargets"
      | "minP"
      | "observations"
      | "servesWhileTraining"
      | "valueModel"
    >
  | MeasuredMetric
  | OptimField
  | "aggregation"
  | "klEstimator"
  | "loss"
  | "loraOrFull"
  | "lossPerRole"
  | "quantization"
  | "referenceForward";
export interface OptionMeta {
  readonly resume?: ResumeRule;
  /** All of them must hold. */
  readonly requires?: readonly Requirement[];
  /** The option whose value an unset one takes. */
  readonly inherits?: string;
  /** Unset, it depends on the model (`../model-defaults.ts`); `plain` is what the built-in one takes. */
  readonly ofModel?: { readonly plain: unknown };
  /** The option that sets it for single roles. */
  readonly byRole?: string;
  /** What its values need of a backend. */
  readonly backend?: {
    readonly need: BackendNeed;
    /** The values that need it, or `all`. @default all but the option's default */
    readonly values?: readonly unknown[] | "all";
  };
  /** Values to try, where its type and bounds do not give a valid one that is not the default. */
  readonly exampleValues?: readonly unknown[];
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

/** Options of which none has an effect unless all of these hold: said once, for all of them. */
export function under<S extends Readonly<Record<string, z.ZodType>>>(
  shape: S,
  ...requires: readonly Requirement[]
): S {
  const each = Object.entries(shape).map(([name, option]) => {
    const own = option.meta() as OptionMeta | undefined;
    return [name, option.meta({ ...own, requires: [...requires, ...(own?.requires ?? [])] })];
  });
  return Object.fromEntries(each) as S;
}

/** For `.meta(...)`: values other than the default, or `values`, need this of a backend. */
export const needsBackend = (need: BackendNeed, values?: readonly unknown[] | "all"): Meta => ({
  backend: values === undefined ? { need } : { need, values },
});

/** Stands for any custom function in a list of names. */
export const customFunction = "path#export";

export const validationData: Requirement = { data: "validation" };
