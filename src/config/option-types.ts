/** Options that are one of several types: which there are, and what their types have. */
import type { Tree } from "./camel-keys.ts";
import { type ConfigField, configFields, typesInWords } from "./fields.ts";
import { customFunction } from "./schema/option-meta.ts";
import { valueAt } from "./tree.ts";

/** The value of an option; its default where the type that was chosen has no such option. */
export function optionValue(tree: Tree, { key, default: standard }: ConfigField): unknown {
  const value = valueAt(tree, key);
  return value === undefined ? standard : value;
}

/** Options with types, by their key: the one of their type. */
export function typeFields(): ReadonlyMap<string, ConfigField> {
  const types = configFields().filter(({ key, variant }) => key === `${variant?.of}.type`);
  return new Map(types.map((field) => [field.variant?.of as string, field]));
}

/** "algorithm.loss.beta belongs to dro, and algorithm.loss is ppo" */
export function notOfType({ key, variant }: ConfigField, type: unknown): string {
  return `${key} belongs to ${typesInWords(variant?.types ?? [])}, and ${variant?.of} is ${String(type)}`;
}

/** Whether the option is one of those that a type has. */
export const hasType = ({ variant }: ConfigField, type: unknown): boolean =>
  variant === undefined ||
  variant.types.includes(String(type)) ||
  (variant.types.includes(customFunction) && String(type).includes("#"));
