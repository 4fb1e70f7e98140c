/**
 * Options that are one of several types, each with separate options: `{ type: "ppo", eps_clip: 0.1 }`,
 * or `"ppo"` alone for the type with its defaults. What a type does not have is refused.
 */
import { z } from "zod";
import type { CustomName } from "../../algorithms/catalog.ts";
import { isTree } from "../camel-keys.ts";
import { customName } from "./kinds.ts";
import { customFunction, type OptionMeta } from "./option-meta.ts";

/** Options by type; those of `path#export` are for custom functions. */
export type Shapes = Readonly<Record<string, z.core.$ZodLooseShape>>;

/** The value of one of the types, all its options filled in. */
export type Variant<S extends Shapes> = {
  [T in keyof S & string]: {
    readonly type: T extends typeof customFunction ? CustomName : T;
  } & { readonly [K in keyof S[T]]: z.output<S[T][K]> };
}[keyof S & string];

/** Takes a map with `type`, or the type alone; a map without one is of the type `usual`. */
export function variants<S extends Shapes>(
  shapes: S,
  usual: keyof S & string,
): z.ZodType<Variant<S>> {
  const each = Object.entries(shapes).map(([type, shape]) =>
    z.strictObject({ type: type === customFunction ? customName() : z.literal(type), ...shape }),
  );
  const withType = (value: unknown): unknown => {
    if (typeof value === "string") return { type: value };
    return isTree(value) && value["type"] === undefined ? { ...value, type: usual } : value;
  };
  return z.preprocess(withType, z.union(each)) as unknown as z.ZodType<Variant<S>>;
}

/** What an option says in addition to the shapes of its types. */
export interface VariantsOption extends OptionMeta {
  readonly description: string;
  /** The types, in words. @default a list of them */
  readonly allowed?: string;
}

/** {@link variants} as an option. */
export function oneOf<S extends Shapes>(
  shapes: S,
  usual: keyof S & string,
  { description, ...meta }: VariantsOption,
): z.ZodPrefault<z.ZodType<Variant<S>>> {
  const option = variants(shapes, usual).prefault({ type: usual } as never);
  return option.describe(description).meta({ ...meta, variants: usual });
}
