/**
 * What is minimized: a loss's terms, a KL penalty to a reference and an entropy bonus,
 * each token with its factor (the formula is in `src/core/loss/loss.ts`).
 */
import type { LossSpec } from "../../core/loss/loss.ts";
import type { Graph, Value } from "../graph/graph.ts";
import { add, multiply, subtract, sum } from "../graph/ops.ts";
import { segmentMean } from "../graph/segment-ops.ts";
import { tokenLosses } from "./token-losses.ts";
import { klEstimates } from "./kl.ts";
import { declareLossParameters } from "./parameters.ts";

export interface ObjectiveInputs {
  /** [R] log p(token) under the weights being trained. */
  readonly logprobs: Value;
  /** [R] entropy of the distribution that the token was sampled from; computed only when needed. */
  readonly entropy: () => Value;
}

/** Names of the sums over tokens that an objective may report in addition to its value. */
export const objectiveSums = ["clipped", "kl", "entropy"] as const;
export type ObjectiveSum = (typeof objectiveSums)[number];

export interface Objective {
  /** A scalar. */
  readonly loss: Value;
  readonly sums: Partial<Readonly<Record<ObjectiveSum, Value>>>;
}

/** Objectives with equal keys have equal graphs; numbers are fed (`parameters.ts`). */
export function objectiveKey(spec: LossSpec): string {
  const parts = [spec.name, spec.kl?.estimator ?? "", typeof spec.dualClip, hasEntropy(spec)];
  return parts.join();
}

function hasEntropy(spec: LossSpec): boolean {
  return (spec.entropyCoef ?? 0) !== 0;
}

/** Declares its inputs (`LossInput` of `training/batch.ts`) in the graph. */
export function buildObjective(
  graph: Graph,
  spec: LossSpec,
  { logprobs, entropy }: ObjectiveInputs,
): Objective {
  const perToken = (name: string): Value => graph.input(name, "float32", ["R"]);
  const parameters = declareLossParameters(graph);
  const rowOf = graph.input("row_of", "int64", ["R"]);
  const shares = graph.input("row_shares", "float32", ["rows"]);
  const weights = perToken("weights");
  const { terms, clipped, isWeighted } = tokenLosses[spec.name](
    {
      logprobs,
      samplingLogprobs: perToken("sampling_logprobs"),
      advantages: perToken("advantages"),
      weights,
      rowMean: (x) => segmentMean(x, rowOf, shares),
      parameters,
    },
    spec,
  );
  const sums: Partial<Record<ObjectiveSum, Value>> = {};
  let total = isWeighted === true ? terms : multiply(terms, weights);
  if (clipped !== undefined) {
    sums.clipped = sum(graph.node("Cast", [clipped], clipped.shape, { attributes: { to: 1 } }));
  }
  if (spec.kl !== undefined && spec.kl !== null) {
    const kl = klEstimates[spec.kl.estimator](logprobs, perToken("reference_logprobs"));
    sums.kl = sum(kl);
    total = add(total, multiply(kl, parameters.klCoef));
  }
  if (hasEntropy(spec)) {
    const value = entropy();
    sums.entropy = sum(value);
    total = subtract(total, multiply(value, parameters.entropyCoef));
  }
  return { loss: sum(multiply(total, perToken("factors"))), sums };
}
