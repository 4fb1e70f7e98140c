/**
 * Finds options that were set and have no effect, because another option that they need is off. The
 * schema declares which options need which.
 */
import type { Tree } from "../camel-keys.ts";
import { type ConfigField, configFields } from "../fields.ts";
import { optionValue } from "../option-types.ts";
import { configTree } from "../parse.ts";
import type { Requirement } from "../schema/option-meta.ts";
import type { TrainConfig } from "../train-config.ts";
import { valueAt } from "../tree.ts";

/** An option that was set and has no effect. */
export interface IdleOption {
  readonly key: string;
  readonly value: unknown;
  /** The requirement that is not met. */
  readonly lacks: Requirement;
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

function isMet(requirement: Requirement, tree: Tree, hasValidation: boolean): boolean {
  if ("data" in requirement) return hasValidation;
  if ("anyOf" in requirement) {
    return requirement.anyOf.some((one) => isMet(one, tree, hasValidation));
  }
  const value = valueAt(tree, requirement.option);
  if ("above" in requirement) return typeof value === "number" && value > requirement.above;
  if ("includes" in requirement) {
    return Array.isArray(value) && value.includes(requirement.includes);
  }
  if ("not" in requirement) return !same(value, requirement.not);
  return requirement.is.some((allowed) => same(allowed, value));
}

/** A file for several backends may set options of those that are not used. */
function isOfAnotherBackend(key: string, { backend }: TrainConfig): boolean {
  return key.startsWith("verl.") && backend !== "verl";
}

function isSet(field: ConfigField, tree: Tree): boolean {
  const { default: standard, inherits, ofModel } = field;
  const usual = inherits === undefined ? (ofModel?.plain ?? standard) : valueAt(tree, inherits);
  return !same(optionValue(tree, field), usual);
}

/**
 * Options that differ from their default and lack what they need.
 * @param hasValidation whether there are validation tasks.
 */
export function idleOptions(config: TrainConfig, hasValidation: boolean): readonly IdleOption[] {
  const tree = configTree(config);
  return configFields().flatMap((field) => {
    const { key, requires } = field;
    const lacks = requires.find((requirement) => !isMet(requirement, tree, hasValidation));
    // What the chosen type does not have, the schema refused.
    if (
      lacks === undefined ||
      field.variant !== undefined ||
      isOfAnotherBackend(key, config) ||
      !isSet(field, tree)
    )
      return [];
    return [{ key, value: valueAt(tree, key), lacks }];
  });
}

/** `model.lora_rank above 0` */
export function describeRequirement(requirement: Requirement): string {
  if ("data" in requirement) return "validation data";
  if ("anyOf" in requirement) return requirement.anyOf.map(describeRequirement).join(" or ");
  if ("above" in requirement) return `${requirement.option} above ${requirement.above}`;
  if ("includes" in requirement) {
    return `${String(requirement.includes)} in ${requirement.option}`;
  }
  if ("not" in requirement) return `${requirement.option} other than ${String(requirement.not)}`;
  return `${requirement.option}=${requirement.is.map(String).join(" or ")}`;
}

const describeIdle = ({ key, value, lacks }: IdleOption): string =>
  `${key}=${JSON.stringify(value)} has no effect: it needs ${describeRequirement(lacks)}.`;

/** Warnings about options whose switch is off, as far as the configuration alone shows. */
export function switchNotices(config: TrainConfig): readonly string[] {
  return idleOptions(config, true).map(describeIdle);
}

/** Warnings about options that only validation reads, for a run without validation data. */
export function validationNotices(config: TrainConfig): readonly string[] {
  return idleOptions(config, false)
    .filter(({ lacks }) => "data" in lacks)
    .map(describeIdle);
}
