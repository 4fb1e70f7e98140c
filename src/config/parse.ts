/** Converts a tree of options to its checked form and back. */
import { snakeKeys, type Tree } from "./camel-keys.ts";
import { checkCombinations } from "./checks/combinations.ts";
import { configFields } from "./fields.ts";
import { describeIssues } from "./checks/issues.ts";
import { checkTree } from "./schema.ts";
import type { TrainConfig } from "./train-config.ts";

/** The trees of checked configurations; these are frozen, so that neither can change. */
const trees = new WeakMap<TrainConfig, Tree>();

function frozen<T extends object>(value: T): T {
  for (const child of Object.values(value)) {
    if (typeof child === "object" && child !== null) frozen(child as object);
  }
  return Object.freeze(value);
}

/**
 * Fills in defaults and checks a tree in snake_case.
 * @throws ConfigError that names every problem at once.
 */
export function parseConfigTree(tree: Tree): TrainConfig {
  const checked = checkTree(tree);
  if (checked.config === null) throw describeIssues(checked.issues, tree, configFields());
  checkCombinations(checked.config);
  const config = frozen(checked.config);
  trees.set(config, frozen(checked.tree));
  return config;
}

/** Whether this is what {@link parseConfigTree} returned, and so needs no check. */
export const isChecked = (config: object): config is TrainConfig =>
  trees.has(config as TrainConfig);

/** The resolved tree in snake_case, every key present, as written to `config.resolved.yaml`. */
export function configTree(config: TrainConfig): Tree {
  return trees.get(config) ?? snakeKeys(config);
}
