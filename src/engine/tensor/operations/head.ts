/** Log-probabilities, entropies and gradients at the head, on rows of logits in place. */
import type { Program } from "../program.ts";
import type { Tensor } from "../tensor.ts";
import { checkIndices, checkShape } from "./check-shape.ts";

/** What is added to rows of logits before the temperature. */
export interface LogitBiases {
  /** [P, V]; -Infinity forbids a token. */
  readonly rows: Tensor;
  /** [1, R]: which of them each row gets. */
  readonly of: Tensor<"i32">;
}

/** @throws RangeError */
export function checkBiases(biases: LogitBiases, logits: Tensor): void {
  checkShape("The biases", biases.rows, biases.rows.rows, logits.columns);
  if (!biases.rows.isContiguous) throw new RangeError("Rows of biases are contiguous.");
  checkIndices("The rows of biases", biases.of, logits.rows, biases.rows.rows);
}

/** All [1, R]. */
export interface LogProbabilityTensors {
  readonly targets: Tensor<"i32">;
  /** 1 / temperature; null where all are 1. */
  readonly inverseTemperatures: Tensor | null;
  readonly biases: LogitBiases | null;
  /** Results: log p(target), the log of the sum of exponentials, and, where wanted, the entropy in nats. */
  readonly logprobs: Tensor;
  readonly logSums: Tensor;
  readonly entropies: Tensor | null;
}

/** logits [R, V] become shaped: (logit + bias) / temperature. */
export function logProbabilities(
  program: Program,
  logits: Tensor,
  tensors: LogProbabilityTensors,
): void {
  const { targets, inverseTemperatures, biases, logprobs, logSums, entropies } = tensors;
  checkIndices("The targets", targets, logits.rows, logits.columns);
  if (biases !== null) checkBiases(biases, logits);
  for (const tensor of [inverseTemperatures, logprobs, logSums, entropies])
    if (tensor !== null) checkShape("A row of numbers", tensor, 1, logits.rows);
  program.add(
    "log_probabilities",
    logits.rows,
    logits.columns,
    logits,
    logits.stride,
    inverseTemperatures,
    biases?.rows ?? null,
    biases?.of ?? null,
    targets,
    logprobs,
    logSums,
    entropies,
  );
}

/** All [1, R]. */
export interface LogitGradientTensors {
  readonly targets: Tensor<"i32">;
  readonly inverseTemperatures: Tensor | null;
  readonly logSums: Tensor;
  /** d loss / d log p(target) */
  readonly coefficients: Tensor;
  /** d loss / d entropy, with the entropies. */
  readonly entropy: { readonly coefficients: Tensor; readonly values: Tensor } | null;
}

/** Shaped logits [R, V], as `logProbabilities` leaves them, become the gradients of the raw ones. */
export function logitGradients(
  program: Program,
  logits: Tensor,
  tensors: LogitGradientTensors,
): void {
  const { targets, inverseTemperatures, logSums, coefficients, entropy } = tensors;
  checkIndices("The targets", targets, logits.rows, logits.columns);
  for (const tensor of [
    inverseTemperatures,
    logSums,
    coefficients,
    entropy?.coefficients,
    entropy?.values,
  ])
    if (tensor) checkShape("A row of numbers", tensor, 1, logits.rows);
  program.add(
    "logit_gradients",
    logits.rows,
    logits.columns,
    logits,
    logits.stride,
    inverseTemperatures,
    targets,
    logSums,
    coefficients,
    entropy?.coefficients ?? null,
    entropy?.values ?? null,
  );
}
