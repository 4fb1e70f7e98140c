/** The state of a run that is resumed with other options than it was saved with. Pure. */
import type { ConfigChange } from "../core/events.ts";
import type { RunState } from "./checkpoint.ts";
import type { TrainConfig } from "../config/train-config.ts";
import { batchSizeOf } from "../config/batch-size.ts";

/** Validations before and after a change of these cannot be compared. */
const measured =
  /^(?:trainer\.best_metric|rollout\.val\..+|dataset\.(?:val|val_fraction|val_limit)|environment\.val_split|evaluator|rollout\.(?:failure|solved)_reward|fine_tuning\.(?:val|val_fraction|loss\.type|rewards))$/u;

/**
 * Forgets the best validation, and how long there was no better one, where later ones cannot be compared with
 * it, or where it was not saved although `trainer.keep_best` is on now.
 */
export function comparableState(
  state: RunState,
  { changes, valHash, isSaved }: ResumedRun,
  { trainer }: Pick<TrainConfig, "trainer">,
): RunState {
  const isOther = state.valHash !== undefined && state.valHash !== valHash;
  const { best } = state;
  if (isOther || changes.some(({ option }) => measured.test(option))) {
    // The weights as they are have no validation of this kind yet.
    return { ...state, valHash, best: null, patience: null, validatedStep: -1 };
  }
  // Step 0 is the model that the run began with.
  const isLost = trainer.keepBest && best !== null && best.step > 0 && !isSaved(best.step);
  return { ...state, valHash, best: isLost ? null : best };
}

export interface ResumedRun {
  readonly changes: readonly ConfigChange[];
  /** Of the validation tasks of now. */
  readonly valHash: string;
  /** Whether the step has a checkpoint. */
  readonly isSaved: (step: number) => boolean;
}

/** How many of `tasks` tasks a run has begun, each epoch anew. */
export function tasksBegun({ position }: RunState, config: TrainConfig, tasks: number): number {
  // In asynchronous training, tasks are counted and not batches.
  return config.asyncTraining.enable
    ? position.next
    : position.next * Math.min(batchSizeOf(config), tasks);
}

/** `state` in terms of `config`. Tasks of a batch that was begun with another size may occur again. */
export function resumedState(
  state: RunState,
  config: TrainConfig,
  changes: readonly ConfigChange[],
  tasks: number,
): RunState {
  if (config.asyncTraining.enable) return state;
  // No batch is larger than the dataset.
  const size = Math.min(config.data.trainBatchSize, tasks);
  const change = changes.find(({ option }) => option === "data.train_batch_size");
  const sizeBefore = Math.min((change?.before as number | undefined) ?? size, tasks);
  const { position } = state;
  const next =
    size === sizeBefore ? position.next : Math.floor((position.next * sizeBefore) / size);
  return { ...state, position: { ...position, next } };
}
