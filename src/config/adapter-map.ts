/** The option that gives roles adapters: every form of it is stored as a list of `role=adapter`. */
import { z } from "zod";
import { defaultAdapter, isAdapterName } from "../core/adapter-names.ts";
import { rolePairs } from "./role-map.ts";

/** In place of an adapter's name: the base alone, which is not trained. */
const noAdapter = "none";

/** The stored form as a map; null is the base alone. */
export function adaptersOf(list: readonly string[]): ReadonlyMap<string, string | null> {
  return new Map(
    rolePairs(list).map(([role, adapter]) => [
      role,
      adapter === noAdapter ? null : (adapter as string),
    ]),
  );
}

/** Adapters that are trained besides the model's own, in the order of their first roles. */
export function adapterNames(list: readonly string[]): readonly string[] {
  const names = [...adaptersOf(list).values()];
  return [...new Set(names)].filter((name) => name !== null && name !== defaultAdapter) as string[];
}

/** Roles that are sampled from the base alone. */
export function frozenRoles(list: readonly string[]): readonly string[] {
  return [...adaptersOf(list)].flatMap(([role, adapter]) => (adapter === null ? [role] : []));
}

function isPair([role, adapter]: readonly [string, unknown]): boolean {
  if (role === "" || typeof adapter !== "string") return false;
  return adapter === noAdapter || adapter === defaultAdapter || isAdapterName(adapter);
}

/** `{solver: solver, judge: none}` or `["solver=solver", "judge=none"]` as the latter. */
export function adapterMap(): z.ZodPrefault<z.ZodType<readonly string[]>> {
  return z
    .union([z.record(z.string(), z.unknown()), z.array(z.string())])
    .refine((given) => rolePairs(given).every(isPair))
    .transform((given) => rolePairs(given).map(([role, adapter]) => `${role}=${String(adapter)}`))
    .prefault([])
    .meta({
      allowed:
        "a map of roles to names of adapters (of letters, digits, _, . and -), default or none, or a list of role=adapter",
      tsType: "Readonly<Record<string, string>> | readonly string[]",
      exampleValues: [["judge=judge"]],
    });
}
