/** Options that give names a weight, or single roles an estimator or a loss: every form of them is stored as a list. */
import { z } from "zod";
import { isTree, toSnake, type Tree } from "./camel-keys.ts";

const weightPattern = /^(?<name>.+)=(?<weight>-?\d*\.?\d+(?:e[+-]?\d+)?)$/iu;

/** The stored form as a map. */
export function weightsOf(list: readonly string[]): ReadonlyMap<string, number> {
  return new Map(
    list.map((entry): [string, number] => {
      const { name = "", weight = "0" } = weightPattern.exec(entry)?.groups ?? {};
      return [name, Number(weight)];
    }),
  );
}

interface WeightMapOptions {
  /** What the names are, for messages. */
  readonly what: string;
  readonly min?: number;
  /** Names that there are. @default any */
  readonly names?: readonly string[];
  readonly example: string;
}

/** `{correct: 1, short: 0.5}` or `["correct=1", "short=0.5"]` as the latter. Names are those of others, so their case stays. */
export function weightMap({
  what,
  min = -Infinity,
  names,
  example,
}: WeightMapOptions): z.ZodPrefault<z.ZodType<readonly string[]>> {
  const isAllowed = (entry: string): boolean => {
    const { name = "", weight } = weightPattern.exec(entry)?.groups ?? {};
    return weight !== undefined && Number(weight) >= min && (names?.includes(name) ?? true);
  };
  return z
    .union([
      z
        .record(z.string(), z.unknown())
        .transform((map) =>
          Object.entries(map).map(([name, weight]) => `${name}=${String(weight)}`),
        ),
      z.array(z.string()),
    ])
    .refine((list) => list.every(isAllowed))
    .prefault([])
    .meta({
      allowed: `a map of ${what} to numbers${min === -Infinity ? "" : ` from ${min} on`}, or a list of name=number`,
      tsType: "readonly string[]",
      exampleValues: [[example]],
    });
}

/** `role=name`; a role may contain equals signs. */
function splitPair(entry: string): readonly [role: string, name: string] {
  const at = entry.lastIndexOf("=");
  return [entry.slice(0, Math.max(0, at)), entry.slice(at + 1)];
}

type Pair = readonly [role: string, value: unknown];

/** `{judge: rloo}`, `["judge=rloo"]` or `[{role: judge, type: rloo}]` as pairs of role and value. */
export function rolePairs(given: unknown): readonly Pair[] {
  if (!Array.isArray(given)) return isTree(given) ? Object.entries(given) : [];
  return given.map((entry: unknown): Pair => {
    if (typeof entry === "string") return splitPair(entry);
    const { role, ...value } = isTree(entry) ? entry : {};
    return [typeof role === "string" ? role : "", value];
  });
}

/** Its own keys may be in camelCase; those of maps in it are names of others. */
const snakeOptions = (tree: Tree): Tree =>
  Object.fromEntries(Object.entries(tree).map(([key, value]) => [toSnake(key), value]));

/** Keys of a map are roles, so their case must stay; those of an estimator or a loss may be in camelCase. */
export function roleMap<V>(
  variant: z.ZodType<V>,
  what: "estimator" | "loss",
): z.ZodPrefault<z.ZodType<readonly (V & { readonly role: string })[]>> {
  const one = z.preprocess((value) => (isTree(value) ? snakeOptions(value) : value), variant);
  return z
    .union([
      z.record(z.string().min(1), one),
      z.array(z.union([z.string(), z.looseObject({ role: z.string() })])),
    ])
    .transform((given, context) =>
      rolePairs(given).map(([role, value]) => {
        const checked = one.safeParse(value);
        if (checked.success && role !== "") return { role, ...checked.data };
        context.addIssue("not a role with what is known");
        return z.NEVER;
      }),
    )
    .prefault([])
    .meta({
      allowed: `a map of roles to ${what === "loss" ? "losses" : "estimators"}, or a list of role=${what}`,
      tsType: what === "loss" ? "readonly LossOfRole[]" : "readonly EstimatorOfRole[]",
      exampleValues: [[what === "loss" ? "judge=dro" : "judge=rloo"]],
    });
}
