/**
 * Resolves a run's options from their layers: defaults, then a YAML file, then overrides. Remembers
 * where each value came from. The only file here that reads from disk.
 */
import { readFileSync } from "node:fs";
import { parse, YAMLParseError } from "yaml";
import { ConfigError } from "../../core/errors.ts";
import { isTree, snakeKeys, type Tree } from "./camel-keys.ts";
import { nearestKey } from "./issues.ts";
import { applyOverride, type Override, type Overrides, readOverrides } from "./overrides.ts";
import { configFields } from "./fields.ts";
import { configTree, parseConfigTree, valueAt } from "./parse.ts";
import type { TrainConfig } from "./train-config.ts";

/** The layer that a value came from. */
export type ConfigSource = "default" | "file" | "override";

/** A resolved configuration with its history. */
export interface LoadedConfig {
  readonly config: TrainConfig;
  /** The same in snake_case, every key present. */
  readonly tree: Readonly<Record<string, unknown>>;
  /** Where the value of each dotted key came from. */
  readonly sources: ReadonlyMap<string, ConfigSource>;
}

/** What {@link loadConfig} reads. */
export interface LoadConfigOptions {
  /** A YAML file. */
  readonly file?: string;
  /** `key=value` texts, or a map with dotted or nested keys; applied in order, they win. */
  readonly overrides?: Overrides;
}

function readTree(file: string): Tree {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new ConfigError({
      message: `The configuration file ${file} cannot be read: ${(error as Error).message}.`,
      hint: "Check the path; it is relative to the current folder.",
      cause: error,
      fields: { file },
    });
  }
  let tree: unknown;
  try {
    tree = parse(text);
  } catch (error) {
    const line = error instanceof YAMLParseError ? error.linePos?.[0].line : undefined;
    throw new ConfigError({
      message: `${file}${line === undefined ? "" : `:${line}`} is not valid YAML: ${(error as Error).message.split("\n")[0]}`,
      cause: error,
      fields: { file, line },
    });
  }
  if (tree === null || tree === undefined) return {};
  if (!isTree(tree)) {
    throw new ConfigError({
      message: `${file} must hold a map of options; got ${Array.isArray(tree) ? "a list" : typeof tree}.`,
      fields: { file },
    });
  }
  return tree;
}

/** `~key` of a key that does not exist would otherwise go unnoticed. */
function checkRemovals(overrides: readonly Override[]): void {
  const known = configFields().map((field) => field.key);
  for (const { key, remove } of overrides) {
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
  return resolveLayers(options.file, readOverrides(options.overrides ?? {}));
}

function resolveLayers(file: string | undefined, overrides: readonly Override[]): LoadedConfig {
  checkRemovals(overrides);
  const tree = file === undefined ? {} : readTree(file);
  const touched: Tree = {};
  for (const override of overrides) {
    applyOverride(tree, override);
    applyOverride(touched, override);
  }
  const config = parseConfigTree(tree);
  const sources = new Map<string, ConfigSource>();
  for (const { key } of configFields()) {
    if (valueAt(touched, key) !== undefined) sources.set(key, "override");
    else sources.set(key, valueAt(tree, key) === undefined ? "default" : "file");
  }
  return { config, tree: configTree(config), sources };
}

/** A configuration in any of the forms that `AgentTrainer` takes. */
export type ConfigInput = TrainConfig | Overrides;

function isTrainConfig(input: ConfigInput): input is TrainConfig {
  const data = isTree(input) ? input["data"] : undefined;
  return isTree(data) && "trainBatchSize" in data;
}

/** Checks a configuration in any form. */
export function resolveConfig(input: ConfigInput): TrainConfig {
  // A TrainConfig may have been spread and changed since it was made, so it is checked again.
  return isTrainConfig(input)
    ? parseConfigTree(snakeKeys(input))
    : loadConfig({ overrides: input }).config;
}

/** The options most runs set, by short names. */
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
  /** Anything else; wins over these options. */
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
      message: `buildTrainConfig does not know ${unknown.join(", ")}. Allowed: ${Object.keys(shortNames).join(", ")}, configFile, overrides.`,
      hint: "Any other option goes into overrides by its full key.",
      fields: { unknown },
    });
  }
  const layers: Override[] = [];
  for (const [name, key] of Object.entries(shortNames)) {
    const value = named[name as keyof typeof named];
    if (value !== undefined) layers.push({ key, remove: false, value });
  }
  return resolveLayers(configFile, [...layers, ...readOverrides(overrides ?? {})]).config;
}
