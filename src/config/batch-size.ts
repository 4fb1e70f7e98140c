/** Of the options: how many tasks a step has. */
import type { TrainConfig } from "./train-config.ts";

/** Tasks that are rolled out at a time for one step. */
export const batchSizeOf = ({
  data: { trainBatchSize },
  asyncTraining: { enable, miniBatchSize },
}: Pick<TrainConfig, "data" | "asyncTraining">): number =>
  enable ? (miniBatchSize ?? trainBatchSize) : trainBatchSize;
