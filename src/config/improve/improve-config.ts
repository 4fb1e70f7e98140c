/** What the file of `agent-trainer improve` says, checked and with defaults. */
import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { ConfigError } from "../../core/errors.ts";
import { checkFileSync } from "../../util/files/regular-file.ts";
import { describeYamlError, parseYaml } from "../../util/yaml-text.ts";
import { camelKeys, type CamelKeys, isTree } from "../camel-keys.ts";
import { describeIssues } from "../checks/issues.ts";
import { fieldsOf } from "../fields.ts";
import { checkTree } from "../load/check-tree.ts";
import { applyOverride, readOverrides } from "../load/overrides.ts";
import { type ImproveOptions, improveJsonSchema, improveSchema } from "./improve-schema.ts";

/** Options of a round, in camelCase; paths are absolute. */
export type ImproveConfig = CamelKeys<ImproveOptions>;

function readTree(file: string): unknown {
  checkFileSync(file);
  const text = readFileSync(file, "utf8");
  try {
    return parseYaml(text) ?? {};
  } catch (cause) {
    const { line, problem } = describeYamlError(cause, text);
    const at = line === undefined ? file : `${file}:${line}`;
    throw new ConfigError({ message: `${at} is not valid YAML: ${problem}.`, cause });
  }
}

/** Paths of the file are relative to it. */
function absolute(config: ImproveConfig, folder: string): ImproveConfig {
  const path = (name: string): string => resolve(folder, name);
  const optional = (name: string | null): string | null => (name === null ? null : path(name));
  return {
    ...config,
    config: path(config.config),
    folder: path(config.folder),
    collect: {
      ...config.collect,
      store: path(config.collect.store),
      files: config.collect.files.map(path),
    },
    curate: { ...config.curate, scrub: optional(config.curate.scrub) },
    gate: {
      ...config.gate,
      heldOut: optional(config.gate.heldOut),
      regressions: optional(config.gate.regressions),
    },
  };
}

/**
 * Reads the file of `agent-trainer improve`.
 *
 * @param overrides `key=value` strings, as on the command line
 * @throws ConfigError that names every problem at once.
 *
 * @example
 * const config = loadImproveConfig("improve.yaml", ["train.with=sft"]);
 */
export function loadImproveConfig(file: string, overrides: readonly string[] = []): ImproveConfig {
  const tree = readTree(file);
  checkTree(tree, file);
  if (!isTree(tree)) {
    throw new ConfigError({
      message: `${file} has no options: it is not a map.`,
      hint: "For example: config: shop.yaml",
      fields: { file },
    });
  }
  for (const override of readOverrides(overrides)) applyOverride(tree, override);
  const result = improveSchema.safeParse(tree);
  if (!result.success) {
    const fields = fieldsOf(improveJsonSchema());
    throw describeIssues(result.error.issues, { tree, names: new Map() }, fields);
  }
  const { collect } = result.data;
  if (collect.files.length > 0 !== (collect.format !== null)) {
    throw new ConfigError({
      message:
        collect.format === null
          ? "collect.files need their collect.format."
          : "collect.format needs collect.files to read.",
      hint: "For example: collect: { files: [traces.jsonl], format: otel }",
    });
  }
  return absolute(camelKeys(result.data), dirname(resolve(file)));
}
