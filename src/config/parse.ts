/** Converts a tree of options to its checked form and back. */
import { snakeKeys, type Tree } from "./camel-keys.ts";
import { checkCombinations } from "./check-combinations.ts";
import { configFields } from "./fields.ts";
import { describeIssues } from "./issues.ts";
import { checkTree } from "./schema.ts";
import type { TrainConfig } from "./train-config.ts";

/**
 * Fills in defaults and checks a tree in snake_case.
 * @throws ConfigError that names every problem at once.
 */
export function parseConfigTree(tree: Tree): TrainConfig {
  const { config, issues } = checkTree(tree);
  if (config === null) throw describeIssues(issues, tree, configFields());
  checkCombinations(config);
  return config;
}

/** The resolved tree in snake_case, every key present, as written to `config.resolved.yaml`. */
export function configTree(config: TrainConfig): Tree {
  return snakeKeys(config);
}
