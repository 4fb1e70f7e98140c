/**
 * Resolves a run's options from their layers: defaults, then a YAML file with what it names, then
 * overrides. Records where each value came from.
 */
import { basename } from "node:path";
import { ConfigError } from "../core/errors.ts";
import { isTree, snakeKeys, toCamel, type Tree } from "./camel-keys.ts";
import { composeFile } from "./compat/compose.ts";
import { configFields } from "./fields.ts";
import { nearestKey } from "./issues.ts";
import { type ConfigOrigin, type ConfigSource, type Layer, resolveLayers } from "./layers.ts";
import { applyOverride, type Override, type Overrides, readOverrides } from "./overrides.ts";
import { configTree, parseConfigTree } from "./parse.ts";
import { inSnakeCase } from "./code-options.ts";
import { switchNotices } from "./switches.ts";
import type { TrainConfig } from "./train-config.ts";
import type { TrainOptions } from "./train-options.ts";
import { valueAt } from "./tree.ts";
import { plainKey } from "./compat/translate.ts";

export type { ConfigSource } from "./layers.ts";

/** A resolved configuration with its history. */
export interface LoadedConfig {
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
  for (const { key: path, remove } of overrides) {
    const key = plainKey(path);
    if (!remove || known.some((other) => other === key || other.startsWith(`${key}.`))) continue;
    const nearest = nearestKey(key, known);
    throw new ConfigError({
      message: `Unknown option ${key} in ~${key}.${nearest === undefined ? "" : ` Did you mean ${nearest}?`}`,
      fields: { key, nearest },
    });
  }
}

/**
 * Resolves and checks a configuration.
 * @throws ConfigError that names every problem at once.
 */
export function loadConfig(options: LoadConfigOptions = {}): LoadedConfig {
  return loadLayers(options.file, readOptions(options.overrides ?? {}));
}

/** Maps may be in camelCase; strings use the keys of files. */
function readOptions(options: Overrides): readonly Override[] {
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
  const { groups } = composeFile(file);
  const isChoice = ({ key, value, remove }: Override): boolean =>
    groups.has(key) && (remove || typeof value === "string");
  const choices = new Map(
    overrides
      .filter(isChoice)
      .map(({ key, value, remove }) => [key, remove ? null : String(value)] as const),
  );
  const { layers } = composeFile(file, { choices });
  return {
    layers: layers.map(({ file: path, tree }): Layer => ({
      source: "file",
      label: layers.length === 1 ? "file" : `file ${basename(path)}`,
      tree,
    })),
    rest: overrides.filter((override) => !isChoice(override)),
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

/** Warnings that came from layers, which cannot be derived from a configuration alone. */
const warningsByConfig = new WeakMap<TrainConfig, readonly string[]>();

/** What {@link LoadedConfig.warnings} was for this configuration. */
export function warningsOf(config: TrainConfig): readonly string[] {
  return [...(warningsByConfig.get(config) ?? []), ...switchNotices(config)];
}

function loadLayers(file: string | undefined, overrides: readonly Override[]): LoadedConfig {
  const { layers, rest } = layersOfFile(file, overrides);
  checkRemovals(rest);
  const { tree, origins, warnings } = resolveLayers([...layers, ...rest.map(overrideLayer)]);
  const config = parseConfigTree(tree);
  warningsByConfig.set(config, warnings);
  const each = <T>(read: (origin: ConfigOrigin) => T): ReadonlyMap<string, T> =>
    new Map([...origins].map(([key, origin]) => [key, read(origin)]));
  return {
    config,
    tree: configTree(config),
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
  return configFields().every(({ key }) => valueAt(input, camel(key)) !== undefined);
}

/** Checks a configuration in any form. */
export function resolveConfig(input: ConfigInput): TrainConfig {
  // A TrainConfig may have been spread and changed since it was made, so it is checked again.
  if (!isComplete(input)) return loadConfig({ overrides: input as Overrides }).config;
  const config = parseConfigTree(snakeKeys(input));
  warningsByConfig.set(config, warningsByConfig.get(input) ?? []);
  return config;
}

/** The options that most runs set, by short names. */
export interface BuildTrainConfigOptions {
  /** `model.name` */
  readonly modelName?: string;
  /** `rollout.n` */
  readonly groupSize?: number;
  /** `data.train_batch_size` */
  readonly batchSize?: number;
  /** `training.learning_rate` */
  readonly lr?: number;
  /** `model.lora_rank` */
  readonly loraRank?: number;
  /** `trainer.total_epochs` */
  readonly totalEpochs?: number;
  /** `trainer.total_batches` */
  readonly totalSteps?: number;
  /** `trainer.test_freq` */
  readonly valFreq?: number;
  /** `trainer.save_freq` */
  readonly saveFreq?: number;
  /** `trainer.project_name` */
  readonly project?: string;
  /** `trainer.experiment_name` */
  readonly experiment?: string;
  /** `trainer.output_dir` */
  readonly outputDir?: string;
  /** `trainer.seed` */
  readonly seed?: number;
  /** A YAML file below these options. */
  readonly configFile?: string;
  /** Any other options; they override the ones above. */
  readonly overrides?: Overrides;
}

const shortNames: Readonly<
  Record<Exclude<keyof BuildTrainConfigOptions, "configFile" | "overrides">, string>
> = {
  modelName: "model.name",
  groupSize: "rollout.n",
  batchSize: "data.train_batch_size",
  lr: "training.learning_rate",
  loraRank: "model.lora_rank",
  totalEpochs: "trainer.total_epochs",
  totalSteps: "trainer.total_batches",
  valFreq: "trainer.test_freq",
  saveFreq: "trainer.save_freq",
  project: "trainer.project_name",
  experiment: "trainer.experiment_name",
  outputDir: "trainer.output_dir",
  seed: "trainer.seed",
};

/**
 * A checked configuration from short names. Layers: defaults, `configFile`, the short names that are
 * given, `overrides`.
 *
 * @example
 * buildTrainConfig({ modelName: "builtin:shop-tiny", groupSize: 8, batchSize: 16, totalSteps: 30 });
 */
export function buildTrainConfig(options: BuildTrainConfigOptions): TrainConfig {
  const { configFile, overrides, ...named } = options;
  const unknown = Object.keys(named).filter((name) => !(name in shortNames));
  if (unknown.length > 0) {
    throw new ConfigError({
      message: `Unknown options of buildTrainConfig: ${unknown.join(", ")}. Allowed: ${Object.keys(shortNames).join(", ")}, configFile, overrides.`,
      hint: "Set any other option in overrides, by its full key.",
      fields: { unknown },
    });
  }
  const layers: Override[] = [];
  for (const [name, key] of Object.entries(shortNames)) {
    const value = named[name as keyof typeof named];
    if (value !== undefined) layers.push({ key, remove: false, value });
  }
  return loadLayers(configFile, [...layers, ...readOptions(overrides ?? {})]).config;
}
