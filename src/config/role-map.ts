/** Options that assign an estimator or loss to single roles: both YAML forms are stored as a list. */
import { z } from "zod";

/** `role=name`; a role may contain equals signs. */
export function splitPair(entry: string): readonly [role: string, name: string] {
  const at = entry.lastIndexOf("=");
  return [entry.slice(0, Math.max(0, at)), entry.slice(at + 1)];
}

/** Names by role. */
export function namesByRole<Name extends string>(
  map: readonly string[],
): ReadonlyMap<string, Name> {
  return new Map(map.map((entry) => splitPair(entry) as readonly [string, Name]));
}

/** `{judge: rloo}` or `["judge=rloo"]` → `["judge=rloo"]`. Keys are roles, so their case must stay. */
export function roleMap(
  known: z.ZodType<string>,
  what: "estimator" | "loss",
): z.ZodPrefault<z.ZodType<readonly string[]>> {
  const isPair = (text: string): boolean => {
    const [role, name] = splitPair(text);
    return role !== "" && known.safeParse(name).success;
  };
  const plural = what === "loss" ? "losses" : "estimators";
  return z
    .union([
      z
        .record(z.string().min(1), known)
        .transform((map) => Object.entries(map).map(([role, name]) => `${role}=${name}`)),
      z.array(z.string().refine(isPair)),
    ])
    .prefault([])
    .meta({
      allowed: `a map of roles to ${plural}, or a list of role=${what}`,
      tsType: "readonly string[]",
      exampleValues: [[what === "loss" ? "judge=dro" : "judge=rloo"]],
    });
}
