/** Of the options: how many tasks a step has. */
import type { TrainConfig } from "./train-config.ts";

/** Tasks that are rolled out for one step. */
export function batchSizeOf({ data, asyncTraining, rejectionSample }: TrainConfig): number {
  if (asyncTraining.enable) return asyncTraining.miniBatchSize ?? data.trainBatchSize;
  return rejectionSample.enable
    ? Math.ceil(data.trainBatchSize * rejectionSample.multiplier)
    : data.trainBatchSize;
}
