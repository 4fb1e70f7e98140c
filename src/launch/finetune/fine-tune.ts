/** The public function: checks its options, creates what they name, and runs. */
import { type ConfigInput, folderOf, resolveConfig } from "../../config/load.ts";
import type { TrainConfig } from "../../config/train-config.ts";
import type { TrainingBackend } from "../../core/backend.ts";
import type { BackendName } from "../../core/capabilities.ts";
import { type OptionNames, requireKnownOptions } from "../../core/known-options.ts";
import type { PullProgress } from "../../backends/local/index.ts";
import { checkBackendName } from "../create-backend.ts";
import { openBackend } from "../open-backend.ts";
import type { Tracker } from "../../core/tracker.ts";
import { createTrackers } from "../../trackers/create-trackers.ts";
import { checkResume } from "../../trainer/check-capabilities.ts";
import type { EventListener } from "../../trainer/events.ts";
import { executeRun, type TrainResult } from "../../trainer/run.ts";
import { modelSpecOf } from "../../config/model-spec.ts";
import type { ResumeMode } from "../../runs/run-directory.ts";
import { checkExamples, type ExampleSource, loadExamples } from "./examples/load-examples.ts";
import { defined } from "../../util/defined.ts";
import { checkFineTuning, factsOf } from "./check-fine-tuning.ts";
import { exampleTraining } from "./example-training.ts";
import { loadRewards, type RewardedAgent } from "./measured-rewards.ts";
import { readerOf } from "./unread-options.ts";

/** The result of fine-tuning. A run that fails rejects instead. */
export interface FineTuneResult extends TrainResult {
  /** Examples that are trained on, and those that are held out. */
  readonly examples: { readonly train: number; readonly val: number };
}

/** Options of {@link fineTune}. */
export interface FineTuneOptions {
  /**
   * The configuration, in the forms that `AgentTrainer` takes. Options that only rollouts give a meaning are
   * not read.
   */
  readonly config: ConfigInput;
  /**
   * What holds and trains the weights: a name, or an object, which is started but not disposed of.
   * @default the option `backend` of the configuration, which is "local" by default
   */
  readonly backend?: BackendName | TrainingBackend;
  /**
   * Examples: a file, a dataset on a hub, or rows. A row of `loss: "sft"` has `messages` and `tools` as
   * OpenAI's API has them, or `prompt` and `completion`; a row of `loss: "kto"` has a `label`, too; a row
   * of `loss: "dpo"` has `prompt`, `chosen` and `rejected`, or OpenAI's `input`, `preferred_output` and
   * `non_preferred_output`.
   * @default what `fineTuning.train` or `fineTuning.fromRun` names
   */
  readonly train?: ExampleSource;
  /** Held-out examples. @default what `fineTuning.val` names, or the fraction `fineTuning.valFraction` */
  readonly val?: ExampleSource;
  /**
   * An agent whose rewards on validation tasks are measured at each validation, next to the loss:
   * `{ agentFlow, evaluator, valDataset }`.
   * @default with `fineTuning.rewards`, what the options `agent`, `evaluator` and `dataset.val` name
   */
  readonly rewards?: RewardedAgent;
  /** `"auto"` resumes the latest run if there is one; a path resumes the run in that folder. @default false */
  readonly resume?: ResumeMode;
  /** Allows a resumed run to change options that decide what it computes. @default false */
  readonly allowChanges?: boolean;
  /** Aborting it ends the run early: the last completed step is saved, and the status is `interrupted`. */
  readonly signal?: AbortSignal;
  /** Called synchronously with every event of the run. */
  readonly onEvent?: EventListener;
  /** What follows the run, in addition to what the option `tracking.trackers` names. @default none */
  readonly trackers?: readonly Tracker[];
  /** Called with the progress of downloading a model from a hub. */
  readonly onPull?: (progress: PullProgress) => void;
}

const optionNames: OptionNames<FineTuneOptions> = {
  config: true,
  backend: true,
  train: true,
  val: true,
  rewards: true,
  resume: true,
  allowChanges: true,
  signal: true,
  onEvent: true,
  trackers: true,
  onPull: true,
};

function configOf({ config, backend, rewards }: FineTuneOptions): TrainConfig {
  const resolved = resolveConfig(config);
  const named = typeof backend === "string" ? resolveConfig({ ...resolved, backend }) : resolved;
  if (rewards === undefined) return named;
  return resolveConfig({ ...named, fineTuning: { ...named.fineTuning, rewards: true } });
}

/**
 * Fine-tunes a model on examples: supervised (the cross-entropy of the assistant's tokens), or on pairs
 * with DPO (arXiv:2305.18290). Examples are conversations, or recorded episodes of a run with the tokens
 * that were captured (rejection fine-tuning). The folder and the checkpoints are those of a run of
 * `AgentTrainer`, so that reinforcement learning can start from them: `model.name` takes the run folder.
 *
 * @example
 * const { runDir, validation } = await fineTune({
 *   config: {
 *     model: { name: "builtin:shop-tiny" },
 *     fineTuning: { train: "conversations.jsonl", valFraction: 0.1 },
 *     training: { learningRate: 1e-3 },
 *     trainer: { totalEpochs: 2 },
 *   },
 * });
 * console.log(runDir, validation?.["val/loss"]);
 *
 * @throws ConfigError naming the file and line of a row that cannot be used; UnsupportedOptionError for an
 * option that the backend does not support.
 */
export async function fineTune(options: FineTuneOptions): Promise<FineTuneResult> {
  requireKnownOptions("fineTune", options, optionNames);
  const { backend: given, train, val, resume, allowChanges, onEvent, onPull } = options;
  const object = typeof given === "object" ? given : null;
  const config = configOf(options);
  const folder = folderOf(config);
  const signal = options.signal ?? new AbortController().signal;
  if (object === null) checkBackendName(config.backend);
  const examples = { config, folder, ...defined({ train, val }) };
  checkExamples(examples);
  const listeners = onEvent === undefined ? [] : [onEvent];
  await using opened = await openBackend(config, folder, {
    backend: object,
    listeners,
    ...(onPull === undefined ? {} : { onPull }),
  });
  const { backend } = opened;
  checkFineTuning(config, backend);
  await using parts = config.fineTuning.rewards
    ? await loadRewards(config, folder, options.rewards ?? null, signal)
    : null;
  if (resume !== undefined && resume !== false) checkResume(backend);
  signal.throwIfAborted();
  // Examples are compared as tokens with those of a run to resume, so its folder is opened after this.
  const target = await backend.start({
    seed: config.trainer.seed,
    model: modelSpecOf(config.model),
    signal,
  });
  // Some backends know what they support only after a request to their server.
  checkFineTuning(config, backend);
  const loaded = await loadExamples({ ...examples, ...factsOf(target, backend.name), signal });
  const result = await executeRun({
    config,
    backend,
    training: exampleTraining(config, backend, loaded, parts === null ? null : { target, parts }),
    resume: resume ?? false,
    allowChanges: allowChanges === true,
    signal,
    listeners,
    trackers: createTrackers(config, options.trackers),
    isRead: readerOf(config),
  });
  return { ...result, examples: { train: loaded.train.length, val: loaded.val.length } };
}
