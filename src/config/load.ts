/**
 * Resolves a run's options from their layers: defaults, then a YAML file with what it names, then
 * overrides. Records where each value came from.
 */
import { basename, dirname, resolve } from "node:path";
import { ConfigError } from "../core/errors.ts";
import { isTree, snakeKeys, toCamel, type Tree } from "./camel-keys.ts";
import { composeFile } from "./compat/compose.ts";
import { configFields } from "./fields.ts";
import { hasType } from "./option-types.ts";
import { nearestKey } from "./checks/issues.ts";
import { type ConfigOrigin, resolveLayers } from "./load/layers.ts";
import type { ConfigSource, Layer } from "./load/merge-layers.ts";
import { applyOverride, type Override, type Overrides, readOverrides } from "./load/overrides.ts";
import { defaultModel } from "./schema/training.ts";
import { configTree, givenTree, isChecked, parseConfigTree } from "./parse.ts";
import { inSnakeCase } from "./load/code-options.ts";
import { switchNotices } from "./checks/switches.ts";
import type { TrainConfig } from "./train-config.ts";
import type { TrainOptions } from "./train-options.ts";
import { valueAt } from "./tree.ts";
import { plainKey, targetsOf } from "./compat/translate.ts";

export type { ConfigSource } from "./load/merge-layers.ts";

/** A resolved configuration with its history. */
export interface LoadedConfig {
  /** The options, checked, with every default filled in. */
  readonly config: TrainConfig;
  /** The same in snake_case, every key present. */
  readonly tree: Readonly<Record<string, unknown>>;
  /** Where the value of each dotted key came from. */
  readonly sources: ReadonlyMap<string, ConfigSource>;
  /** The same as text: which file, under which name, by which reference. */
  readonly origins: ReadonlyMap<string, string>;
  /** Warnings about options that were read and have no effect. */
  readonly warnings: readonly string[];
}

/** What {@link loadConfig} reads. */
export interface LoadConfigOptions {
  /** A YAML file. */
  readonly file?: string;
  /** `key=value` strings, or a map with dotted or nested keys; applied in order, over the file. */
  readonly overrides?: Overrides;
}

/** `~key` of a key that does not exist would otherwise be ignored silently. */
function checkRemovals(overrides: readonly Override[]): void {
  const known = configFields().map((field) => field.key);
  const names = new Set(known);
  for (const { key: path, remove } of overrides) {
    const key = plainKey(path);
    const isKnown =
      targetsOf(key, names).some((target) => names.has(target)) ||
      known.some((other) => other.startsWith(`${key}.`));
    if (!remove || isKnown) continue;
    const nearest = nearestKey(key, known);
    throw new ConfigError({
      message: `Unknown option ${key} in ~${key}.${nearest === undefined ? "" : ` Did you mean ${nearest}?`}`,
      fields: { key, nearest },
    });
  }
}

/**
 * Resolves and checks a configuration: defaults, then the file with what it includes, then overrides.
 *
 * @throws ConfigError that names every problem at once.
 *
 * @example
 * const { config, warnings } = loadConfig({ file: "shop.yaml", overrides: ["rollout.n=16"] });
 * const trainer = new AgentTrainer({ config });
 */
export function loadConfig(options: LoadConfigOptions = {}): LoadedConfig {
  return loadLayers(options.file, readOptions(options.overrides ?? {}));
}

/** Maps may be in camelCase; strings use the keys of files. */
export function readOptions(options: Overrides): readonly Override[] {
  const overrides = readOverrides(options);
  return Array.isArray(options) ? overrides : overrides.map(inSnakeCase);
}

interface FileLayers {
  readonly layers: readonly Layer[];
  /** Overrides that do not choose a file of a group. */
  readonly rest: readonly Override[];
}

/** The file's layers. An override that names a group of its `defaults` chooses the file of that group. */
function layersOfFile(file: string | undefined, overrides: readonly Override[]): FileLayers {
  if (file === undefined) return { layers: [], rest: overrides };
  const mayChoose = ({ value, remove }: Override): boolean => remove || typeof value === "string";
  const choices = new Map(
    overrides
      .filter(mayChoose)
      .map(({ key, value, remove }) => [key, remove ? null : String(value)] as const),
  );
  const { layers, groups } = composeFile(file, { choices });
  return {
    layers: layers.map(({ file: path, tree }): Layer => ({
      source: "file",
      label: layers.length === 1 ? "file" : `file ${basename(path)}`,
      tree,
    })),
    rest: overrides.filter((override) => !(groups.has(override.key) && mayChoose(override))),
  };
}

/** rLLM's choice of a backend, `rllm/backend=tinker`. */
const backendKey = (key: string): string => (key === "rllm/backend" ? "backend" : key);

function overrideLayer(override: Override): Layer {
  const tree: Tree = {};
  const { key, remove } = override;
  if (!remove) applyOverride(tree, { ...override, key: backendKey(key) });
  return { source: "override", label: "override", tree, removed: remove ? [key] : [] };
}

/** What came from layers, and cannot be derived from a configuration alone. */
interface History {
  readonly warnings: readonly string[];
  readonly folder: string;
}
const historyByConfig = new WeakMap<TrainConfig, History>();

/** What {@link LoadedConfig.warnings} was for this configuration. */
export function warningsOf(config: TrainConfig): readonly string[] {
  return [...(historyByConfig.get(config)?.warnings ?? []), ...switchNotices(config)];
}

/** Folder that paths in this configuration are relative to: that of its file, else the current one. */
export function folderOf(config: TrainConfig): string {
  return historyByConfig.get(config)?.folder ?? ".";
}

const defaultModelNotice = `No model is named, so it is ${defaultModel}: from the cache, or 0.27 GB from the hub. model.name=... names another: a folder, a .gguf file, OWNER/NAME, or builtin:shop-tiny, which needs no network.`;

/** @throws ConfigError that names every problem at once. */
export function loadLayers(file: string | undefined, overrides: readonly Override[]): LoadedConfig {
  const { layers, rest } = layersOfFile(file, overrides);
  checkRemovals(rest);
  const resolved = resolveLayers([...layers, ...rest.map(overrideLayer)]);
  const { tree, origins, names } = resolved;
  const warnings = [
    ...(valueAt(tree, "model.name") === undefined ? [defaultModelNotice] : []),
    ...resolved.warnings,
  ];
  const config = parseConfigTree(tree, undefined, names);
  historyByConfig.set(config, {
    warnings,
    folder: file === undefined ? "." : dirname(resolve(file)),
  });
  const complete = configTree(config);
  // Other types than the chosen ones have other options.
  const present = [...origins].filter(([key]) => valueAt(complete, key) !== undefined);
  const each = <T>(read: (origin: ConfigOrigin) => T): ReadonlyMap<string, T> =>
    new Map(present.map(([key, origin]) => [key, read(origin)]));
  return {
    config,
    tree: complete,
    sources: each(({ source }) => source),
    origins: each(({ text }) => text),
    warnings: warningsOf(config),
  };
}

/**
 * A configuration in any of the forms that `AgentTrainer` takes: options in camelCase, a checked
 * `TrainConfig`, or a list of `key=value` strings.
 */
export type ConfigInput = TrainOptions | TrainConfig | readonly string[];

/** Whether every option is present, as after {@link loadConfig}. */
function isComplete(input: ConfigInput): input is TrainConfig {
  if (!isTree(input)) return false;
  const camel = (key: string): string => key.split(".").map(toCamel).join(".");
  return configFields().every((field) => {
    const { key, variant } = field;
    const type = valueAt(input, camel(`${variant?.of}.type`));
    return !hasType(field, type) || valueAt(input, camel(key)) !== undefined;
  });
}

/** Whether it says itself which model it is about. */
export const namesModel = (config: TrainConfig): boolean =>
  valueAt(givenTree(config) ?? snakeKeys(config), "model.name") !== undefined;

/** Checks a configuration in any form. */
export function resolveConfig(input: ConfigInput): TrainConfig {
  if (isChecked(input)) return input;
  if (!isComplete(input)) return loadConfig({ overrides: input as Overrides }).config;
  // A TrainConfig that was spread and changed since it was made.
  const config = parseConfigTree(snakeKeys(input));
  const history = historyByConfig.get(input);
  if (history !== undefined) historyByConfig.set(config, history);
  return config;
}

/**
 * The same options with the backend that code passes, which defaults that depend on the model are chosen
 * for: a name replaces `backend`, an object leaves it as it is.
 */
export function withBackend(
  config: TrainConfig,
  backend: string | { readonly name: string },
): TrainConfig {
  const given = givenTree(config) ?? snakeKeys(config);
  const changed =
    typeof backend === "string"
      ? parseConfigTree({ ...given, backend })
      : parseConfigTree(given, backend.name);
  const history = historyByConfig.get(config);
  if (history !== undefined) historyByConfig.set(changed, history);
  return changed;
}
