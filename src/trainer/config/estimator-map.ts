/** The option that gives single roles another estimator: its two forms in YAML, both kept as a list. */
import { z } from "zod";
import { type CustomName, type EstimatorName, estimatorNames } from "../../algorithms/catalog.ts";
import { customName } from "./schema/kinds.ts";

const known = z.union([z.enum(estimatorNames), customName()]);

/** `role=estimator`; a role may hold an equals sign of its own. */
export function splitPair(entry: string): readonly [role: string, name: string] {
  const at = entry.lastIndexOf("=");
  return [entry.slice(0, Math.max(0, at)), entry.slice(at + 1)];
}

function isPair(text: string): boolean {
  const [role, name] = splitPair(text);
  return role !== "" && known.safeParse(name).success;
}

/** Estimators of single roles. */
export function estimatorsByRole(
  map: readonly string[],
): ReadonlyMap<string, EstimatorName | CustomName> {
  return new Map(map.map((entry) => splitPair(entry) as readonly [string, EstimatorName]));
}

/** `{judge: rloo}` or `["judge=rloo"]` → `["judge=rloo"]`. Keys are roles, so their case must stay. */
export const estimatorMap = (): z.ZodPrefault<z.ZodType<readonly string[]>> =>
  z
    .union([
      z
        .record(z.string().min(1), known)
        .transform((map) => Object.entries(map).map(([role, name]) => `${role}=${name}`)),
      z.array(z.string().refine(isPair)),
    ])
    .prefault([])
    .meta({ allowed: "a map of roles to estimators, or a list of role=estimator" })
    .describe("Estimators of single roles, over adv_estimator.");
