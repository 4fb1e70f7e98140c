/** The stored options of a run of an earlier version, under the names of this one. */
import { ConfigError } from "../../core/errors.ts";
import type { Tree } from "../camel-keys.ts";
import { configFields } from "../fields.ts";
import { typeFields } from "../option-types.ts";
import { leaves } from "../tree.ts";
import { isWholeValue, translate } from "./translate.ts";

/** What has no name here any longer stays as it is. */
export function inCurrentNames(tree: Tree): Tree {
  const known = new Map(configFields().map((field) => [field.key, field]));
  const types = typeFields();
  const stored = [...leaves(tree, (key) => isWholeValue(key, known))];
  const written = stored.map(([key, value]) => ({
    path: types.has(key) ? `${key}.type` : key,
    value,
    layer: 0,
    source: 0,
  }));
  try {
    return translate(written, known).tree;
  } catch (error) {
    if (error instanceof ConfigError) return tree;
    throw error;
  }
}
