/** Supervised fine-tuning: the mean of -log p over the trained tokens of a batch, as in TRL's SFTTrainer. */
import { defaultLoss, type LossSpec } from "../../../core/loss/loss.ts";
import { countTrained, type Example, trainingRow } from "../examples/token-row.ts";
import type { Objective } from "../../../trainer/steppers/examples.ts";
import { forwardInParts, type Scorer, sumTrained } from "./row-logprobs.ts";

const loss: LossSpec = { ...defaultLoss, name: "cross_entropy", aggregation: "token-mean" };

const rowsOf = (examples: readonly Example[]) =>
  examples.flatMap(({ rows, at }) => rows.map((row) => ({ row, training: trainingRow(row, at) })));

/** @param batchSize rows of one forward pass of a validation. */
export function crossEntropy(
  backend: Scorer,
  batchSize: number,
  signal: AbortSignal,
): Objective<Example> {
  return {
    loss,
    async prepare(batch) {
      return {
        rows: rowsOf(batch).map(({ training }) => training),
        report: (measured) => measured,
      };
    },
    async measure(examples) {
      const rows = rowsOf(examples);
      const training = rows.map((each) => each.training);
      const logprobs = await forwardInParts(backend, training, batchSize, signal);
      const sum = rows.reduce((total, { row }, i) => total + sumTrained(logprobs[i]!, row.mask), 0);
      const tokens = rows.reduce((total, { row }) => total + countTrained(row), 0);
      return { loss: -sum / tokens, tokens };
    },
  };
}
