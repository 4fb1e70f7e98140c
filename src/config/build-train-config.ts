/** The options that most runs set, by short names. These names are accepted nowhere else. */
import { ConfigError } from "../core/errors.ts";
import { isGiven } from "../util/defined.ts";
import { nearestName } from "../util/nearest-name.ts";
import { loadLayers, readOptions } from "./load.ts";
import type { Override, Overrides } from "./load/overrides.ts";
import type { TrainConfig } from "./train-config.ts";
import type { TrainOptions } from "./train-options.ts";

/** Options of {@link buildTrainConfig}. What is omitted or `null` has the value of `configFile`, else its default. */
export interface BuildTrainConfigOptions {
  /** Model that is trained: `model.name`. Required, unless `configFile` or `overrides` has it. */
  readonly modelName?: string | null;
  /** Rollouts of each task in a step, at least 1: `rollout.n`. @default 8 */
  readonly groupSize?: number | null;
  /** Tasks of each step, at least 1: `data.train_batch_size`. @default 16 */
  readonly batchSize?: number | null;
  /** Peak learning rate, 0 to 1: `training.learning_rate`. @default chosen for the model */
  readonly lr?: number | null;
  /** Rank of the LoRA adapters, 0 trains all weights: `model.lora_rank`. @default chosen for the model */
  readonly loraRank?: number | null;
  /** Passes over the training tasks: `trainer.total_epochs`. @default 1 */
  readonly totalEpochs?: number | null;
  /** Steps of the run, which take the place of `totalEpochs`: `trainer.total_batches`. @default as many as the epochs take */
  readonly totalSteps?: number | null;
  /** Steps between validations, 0 for those at the start and the end only: `trainer.test_freq`. @default 0 */
  readonly valFreq?: number | null;
  /** Steps between checkpoints, 0 for the one at the end only: `trainer.save_freq`. @default 10 */
  readonly saveFreq?: number | null;
  /** Name that groups runs in trackers: `tracking.project`. @default "agent-trainer" */
  readonly project?: string | null;
  /** Name of the run and of its folder: `trainer.experiment_name`. @default from the date and time */
  readonly experiment?: string | null;
  /** Folder in which run folders are created: `trainer.output_dir`. @default "runs" */
  readonly outputDir?: string | null;
  /** A YAML file, whose options these override; paths in it are relative to it. @default none */
  readonly configFile?: string | null;
  /** Any other options, as objects in camelCase, dotted names or `key=value` strings; they override all the above. @default none */
  readonly overrides?: TrainOptions | readonly string[] | null;
}

const names: Readonly<
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
  project: "tracking.project",
  experiment: "trainer.experiment_name",
  outputDir: "trainer.output_dir",
};

function unknownName(name: string): ConfigError {
  const known = [...Object.keys(names), "configFile", "overrides"];
  const nearest = nearestName(name, known);
  return new ConfigError({
    message: `buildTrainConfig has no option ${name}.${nearest === undefined ? "" : ` Did you mean ${nearest}?`}`,
    hint: `Its options are ${known.join(", ")}; any other option goes into overrides by its own name.`,
    fields: { name, known },
  });
}

/**
 * A checked configuration from the options that most runs set, by short names. Layers, from the weakest:
 * defaults, `configFile`, the short names, `overrides`.
 *
 * @throws ConfigError for an unknown name, and one that names every problem of the options at once.
 *
 * @example
 * const config = buildTrainConfig({
 *   modelName: "builtin:shop-tiny",
 *   groupSize: 8,
 *   batchSize: 16,
 *   lr: 5e-4,
 *   totalSteps: 30,
 *   overrides: { rollout: { train: { maxTokens: 64 } } },
 * });
 */
export function buildTrainConfig(options: BuildTrainConfigOptions = {}): TrainConfig {
  const { configFile, overrides, ...short } = options;
  const layers: Override[] = [];
  for (const [name, value] of Object.entries(short)) {
    if (!Object.hasOwn(names, name)) throw unknownName(name);
    if (!isGiven(value)) continue;
    layers.push({ key: names[name as keyof typeof names], remove: false, value });
  }
  const others = isGiven(overrides) ? readOptions(overrides as Overrides) : [];
  return loadLayers(configFile ?? undefined, [...layers, ...others]).config;
}
