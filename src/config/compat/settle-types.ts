/**
 * Flat names, of rLLM and of earlier versions, do not say which loss or estimator they are for: each goes
 * to those that have it, roles included, and has no effect where none has.
 */
import { isTree, type Tree } from "../camel-keys.ts";
import { hasType, notOfType, typeFields } from "../option-types.ts";
import { rolePairs } from "../role-map.ts";
import { deleteAt, setAt, valueAt } from "../tree.ts";
import type { Fields, Written } from "./written.ts";

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

interface Role extends Tree {
  readonly role: string;
  readonly type?: unknown;
}

const rolesAt = (tree: Tree, key: string | undefined): readonly Role[] =>
  key === undefined
    ? []
    : rolePairs(valueAt(tree, key)).map(([role, value]) => ({
        role,
        ...(isTree(value) ? value : { type: value }),
      }));

/**
 * Changes the tree and the origins in place.
 * @returns a notice for each value that nothing has.
 */
export function settleTypes(
  tree: Tree,
  origins: Map<string, Written>,
  known: Fields,
  backend: string,
): readonly string[] {
  const notices: string[] = [];
  for (const [option, typeField] of typeFields()) {
    const type = valueAt(tree, typeField.key) ?? typeField.default;
    const byRole = typeField.byRole;
    for (const [key, { path, value: written }] of [...origins]) {
      const field = known.get(key);
      const isOwn = path === key || path === `rllm.${key}`;
      if (field?.variant?.of !== option || field === typeField || isOwn) continue;
      const value = valueAt(tree, key);
      const name = key.slice(option.length + 1);
      const roles = rolesAt(tree, byRole);
      const having = roles.filter((one) => hasType(field, one.type) && one[name] === undefined);
      if (having.length > 0 && byRole !== undefined) {
        const all = roles.map((one) => (having.includes(one) ? { ...one, [name]: value } : one));
        setAt(tree, byRole, all);
      }
      if (hasType(field, type)) continue;
      deleteAt(tree, key);
      origins.delete(key);
      // A file for several backends may set options of those that are not used.
      const isUnused = key.startsWith("verl.") && backend !== "verl";
      if (having.length > 0 || isUnused || same(value, field.default)) continue;
      const why = notOfType(field, type);
      notices.push(`${path}=${JSON.stringify(written)} has no effect: ${why}.`);
    }
  }
  return notices;
}
