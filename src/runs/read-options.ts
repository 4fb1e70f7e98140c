/** The options that a run was configured with, and those that are not the defaults. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { configFields } from "../config/fields.ts";
import type { ChangedOption } from "../core/changed-option.ts";
import { configFile, readStoredConfig } from "./stored-config.ts";
import { isJsonObject } from "../util/json-object.ts";

/** Options whose values only say which run it is. */
export const identifying: ReadonlySet<string> = new Set([
  "trainer.experiment_name",
  "trainer.output_dir",
]);

function flatten(value: unknown, path = "", into = new Map<string, string>()): Map<string, string> {
  if (isJsonObject(value)) {
    for (const [key, own] of Object.entries(value)) {
      flatten(own, path === "" ? key : `${path}.${key}`, into);
    }
  } else into.set(path, JSON.stringify(value) ?? "null");
  return into;
}

/** Options by dotted key, as JSON; empty for a folder without a configuration, as that of an evaluation. */
export function readOptions(folder: string): ReadonlyMap<string, string> {
  return existsSync(join(folder, configFile)) ? flatten(readStoredConfig(folder)) : new Map();
}

/** Options of a run that are not the defaults, in the order of the schema. */
export function readChangedOptions(folder: string): readonly ChangedOption[] {
  const given = readOptions(folder);
  return configFields().flatMap(({ key, default: usual, inherits }) => {
    const value = given.get(key);
    const inherited = inherits === undefined ? undefined : given.get(inherits);
    const plain = inherited ?? (usual === undefined ? null : JSON.stringify(usual));
    const isUsual = value === undefined || value === plain || identifying.has(key);
    return isUsual ? [] : [{ key, value, default: plain }];
  });
}
