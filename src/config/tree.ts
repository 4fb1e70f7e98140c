/** Reads and changes trees of options by dotted keys. */
import { ConfigError } from "../core/errors.ts";
import { isTree, type Tree } from "./camel-keys.ts";

/** Value at a dotted path; `undefined` if there is none. */
export function valueAt(tree: Tree, key: string): unknown {
  let node: unknown = tree;
  for (const part of key.split(".")) {
    if (!isTree(node) || !Object.hasOwn(node, part)) return undefined;
    node = node[part];
  }
  return node;
}

/**
 * Sets the value at a dotted path, creating missing maps; a map is merged into an existing map.
 * @throws ConfigError where a part of the path has a value that is not a map: it would be lost.
 */
export function setAt(tree: Tree, key: string, value: unknown): void {
  const parts = key.split(".");
  const last = parts.pop() as string;
  let node = tree;
  for (const [i, part] of parts.entries()) {
    const next = Object.hasOwn(node, part) ? node[part] : undefined;
    if (isTree(next)) {
      node = next;
    } else {
      if (next !== undefined && next !== null)
        throw insideValue(parts.slice(0, i + 1).join("."), next, key);
      const made: Tree = {};
      node[part] = made;
      node = made;
    }
  }
  node[last] = isTree(value) && isTree(node[last]) ? merged(node[last], value) : value;
}

function insideValue(outer: string, value: unknown, key: string): ConfigError {
  const shown = JSON.stringify(value)?.slice(0, 80);
  return new ConfigError({
    message: `${outer} is ${shown}, so ${key} cannot be set as well: ${outer} would have to be a map.`,
    hint: "Leave out one of the two.",
    fields: { option: key, outer, value },
  });
}

export function deleteAt(tree: Tree, key: string): void {
  const parts = key.split(".");
  const last = parts.pop() as string;
  let node: unknown = tree;
  for (const part of parts) node = isTree(node) ? node[part] : undefined;
  if (isTree(node)) delete node[last];
}

/** `over` merged over `base`, map by map; neither is changed. */
function merged(base: Tree, over: Tree): Tree {
  const out: Tree = { ...base };
  for (const [key, value] of Object.entries(over)) {
    const below = Object.hasOwn(out, key) ? out[key] : undefined;
    out[key] = isTree(value) && isTree(below) ? merged(below, value) : value;
  }
  return out;
}

/** Every value that is not a map, with its dotted key; maps for which `isWhole` is true count as values. */
export function* leaves(
  tree: Tree,
  isWhole: (key: string) => boolean = () => false,
  prefix = "",
): Generator<readonly [key: string, value: unknown]> {
  for (const [name, value] of Object.entries(tree)) {
    const key = prefix === "" ? name : `${prefix}.${name}`;
    if (isTree(value) && !isWhole(key)) yield* leaves(value, isWhole, key);
    else yield [key, value];
  }
}
