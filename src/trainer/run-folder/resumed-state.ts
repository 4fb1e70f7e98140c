/** The state of a run that is resumed with other options than it was saved with. Pure. */
import type { ConfigChange } from "../../core/events.ts";
import { defined } from "../../util/defined.ts";
import type { RunState } from "./checkpoint.ts";
import type { TrainConfig } from "../../config/train-config.ts";
import { batchSizeOf } from "../loop-context.ts";

/** Validations before and after a change of these cannot be compared. */
const measured = /^(?:trainer\.best_metric|rollout\.val\..+)$/u;

const batchOptions: ReadonlyMap<string, "trainBatchSize" | "enable" | "multiplier"> = new Map([
  ["data.train_batch_size", "trainBatchSize"],
  ["rejection_sample.enable", "enable"],
  ["rejection_sample.multiplier", "multiplier"],
]);

/** Tasks that a step of the earlier run rolled out. */
function batchSizeBefore(config: TrainConfig, changes: readonly ConfigChange[]): number {
  const before = Object.fromEntries(
    changes.flatMap(({ option, before: value }) => {
      const name = batchOptions.get(option);
      return name === undefined ? [] : [[name, value]];
    }),
  );
  const { trainBatchSize, ...rejection } = before as Record<string, never>;
  return batchSizeOf({
    ...config,
    data: { ...config.data, ...defined({ trainBatchSize }) },
    rejectionSample: { ...config.rejectionSample, ...rejection },
  });
}

/** `state` in terms of `config`. Tasks of a batch that was begun with another size may occur again. */
export function resumedState(
  state: RunState,
  config: TrainConfig,
  changes: readonly ConfigChange[],
): RunState {
  const best = changes.some(({ option }) => measured.test(option)) ? null : state.best;
  // In asynchronous training, tasks are counted and not batches.
  const patience = best === null ? null : (state.patience ?? null);
  if (config.asyncTraining.enable) return { ...state, best, patience };
  const [size, sizeBefore] = [batchSizeOf(config), batchSizeBefore(config, changes)];
  const { position } = state;
  const next =
    size === sizeBefore ? position.next : Math.floor((position.next * sizeBefore) / size);
  return { ...state, best, patience, position: { ...position, next } };
}
