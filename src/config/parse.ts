/** Converts a tree of options to its checked form and back. */
import { camelKeys, snakeKeys, type Tree } from "./camel-keys.ts";
import { checkCombinations } from "./checks/combinations.ts";
import { configFields } from "./fields.ts";
import { describeIssues } from "./checks/issues.ts";
import { describeModelDefaults, fillModelDefaults } from "./model-defaults.ts";
import { checkTree } from "./schema.ts";
import type { TrainConfig } from "./train-config.ts";

/** The trees of checked configurations; these are frozen, so that neither can change. */
const trees = new WeakMap<TrainConfig, Tree>();

/** What a checked configuration was made of, and the defaults that were chosen for its model. */
interface Making {
  readonly given: Tree;
  readonly notes: readonly string[];
}
const makings = new WeakMap<TrainConfig, Making>();

function frozen<T extends object>(value: T): T {
  for (const child of Object.values(value)) {
    if (typeof child === "object" && child !== null) frozen(child as object);
  }
  return Object.freeze(value);
}

/**
 * Fills in defaults and checks a tree in snake_case.
 * @param backend name of the backend that code passes, where it is not the one of the tree.
 * @param names what keys were written as, where it is not their own name; for messages.
 * @throws ConfigError that names every problem at once.
 */
export function parseConfigTree(
  tree: Tree,
  backend?: string,
  names: ReadonlyMap<string, string> = new Map(),
): TrainConfig {
  const checked = checkTree(tree);
  if (checked.config === null)
    throw describeIssues(checked.issues, { tree, names }, configFields());
  const filled = fillModelDefaults(checked.tree, backend ?? checked.config.backend);
  const complete = camelKeys(checked.tree) as unknown as TrainConfig;
  checkCombinations(complete);
  const config = frozen(complete);
  trees.set(config, frozen(checked.tree));
  makings.set(config, { given: tree, notes: describeModelDefaults(config, filled) });
  return config;
}

/** What a checked configuration was made of: only what was set. */
export const givenTree = (config: TrainConfig): Tree | undefined => makings.get(config)?.given;

/** Sentences on the defaults that were chosen for the model. */
export const modelNotes = (config: TrainConfig): readonly string[] =>
  makings.get(config)?.notes ?? [];

/** Whether this is what {@link parseConfigTree} returned, and so needs no check. */
export const isChecked = (config: object): config is TrainConfig =>
  trees.has(config as TrainConfig);

/** The resolved tree in snake_case, every key present, as written to `config.resolved.yaml`. */
export function configTree(config: TrainConfig): Tree {
  return trees.get(config) ?? snakeKeys(config);
}
