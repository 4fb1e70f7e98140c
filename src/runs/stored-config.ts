/** The configuration that a run folder holds. A folder may come from anywhere: what it may ask for is bounded. */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { isTree, type Tree } from "../config/camel-keys.ts";
import { inCurrentNames } from "../config/compat/current-names.ts";
import { checkTree } from "../config/load/check-tree.ts";
import { valueAt } from "../config/tree.ts";
import { ConfigError } from "../core/errors.ts";
import { checkFileSync } from "../util/files/regular-file.ts";
import { parseYaml } from "../util/yaml-text.ts";

export const configFile = "config.resolved.yaml";

const maxBytes = 4 * 2 ** 20;

function readText(file: string): string {
  const size = checkFileSync(file);
  if (size > maxBytes) throw new Error(`it has ${size} bytes, but ${maxBytes} is the limit`);
  return readFileSync(file, "utf8");
}

/** @throws ConfigError when the folder holds no run, or its configuration cannot be read. */
export function readStoredConfig(folder: string): Tree {
  const path = resolve(folder);
  const file = join(path, configFile);
  let value: unknown;
  try {
    value = parseYaml(readText(file));
  } catch (cause) {
    const isMissing = (cause as NodeJS.ErrnoException).code === "ENOENT";
    throw new ConfigError({
      message: isMissing
        ? `There is no run in ${path}: it has no ${configFile}.`
        : `The configuration of the run cannot be read: ${file}: ${(cause as Error).message.split("\n")[0]}.`,
      hint: isMissing
        ? "Name the folder of a run; agent-trainer runs list shows those of a folder."
        : "Restore the file, or remove the run's folder.",
      cause,
      fields: { path, file },
    });
  }
  checkTree(value, file);
  return isTree(value) ? inCurrentNames(value) : {};
}

/** A text of the configuration by the key of its option; empty where there is none. */
export function textAt(tree: Tree, key: string): string {
  const value = valueAt(tree, key);
  return typeof value === "string" ? value : "";
}
