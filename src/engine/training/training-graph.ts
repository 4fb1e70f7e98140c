/** The graphs of training: a loss with its gradients, or log-probabilities only. */
import type { LossSpec } from "../../core/loss/loss.ts";
import { gradients } from "../graph/autodiff.ts";
import { headValues, type HeadInputs, type HeadQuantity } from "../graph/chunked-head.ts";
import { Graph, type Operators } from "../graph/graph.ts";
import { takeRows } from "../graph/model-ops.ts";
import { multiply } from "../graph/ops.ts";
import { buildObjective } from "../loss/objective.ts";
import { embeddingName, headName } from "../model/parameters.ts";
import type { PolicyModel } from "../model/policy-model.ts";
import { segmentAttention } from "../model/segment-attention.ts";
import { buildDecoder } from "../model/transformer.ts";
import { declareWeights } from "../model/weight-source.ts";

export interface BuiltGraph {
  readonly model: Uint8Array;
  /** Parameters to feed at every run. */
  readonly fed: readonly string[];
}

/** Output name of a parameter's gradient. */
export function gradientName(parameter: string): string {
  return `gradient:${parameter}`;
}

/** Output name of a sum over tokens that an objective reports. */
export function sumName(sum: string): string {
  return `sum:${sum}`;
}

export interface TrainingGraphOptions {
  /** null: numbers of tokens only. */
  readonly loss: LossSpec | null;
  /** What is computed of each trained token without a loss. @default "logprob" */
  readonly quantity?: HeadQuantity;
  /** Keep only the layers' inputs, and recompute layers for their gradients. */
  readonly checkpointed: boolean;
  /** Logits of each trained token are multiplied by a further input, `inverse_temperatures` [R, 1]. @default false */
  readonly tempered?: boolean;
  /** Row `bias_of` [padded] of `bias_rows` [P, V] is added to the logits of each trained token. @default false */
  readonly biased?: boolean;
  /** @default "fused" */
  readonly operators?: Operators;
}

/**
 * Inputs as in `MicroBatch`. Outputs: `logprobs` [R], or `entropies` [R] where that is the quantity; with a
 * loss also `loss` (a scalar), its sums and one gradient per trained parameter. The head runs on the R
 * trained tokens only, chunk by chunk.
 */
export function buildTrainingGraph(
  policy: PolicyModel,
  {
    loss,
    quantity = "logprob",
    checkpointed,
    tempered = false,
    biased = false,
    operators = "fused",
  }: TrainingGraphOptions,
): BuiltGraph {
  const graph = new Graph({ operators });
  const weights = declareWeights(graph, {
    ...policy,
    differentiate: loss !== null,
    integers: operators === "fused" ? policy.integers : null,
  });
  const ids = graph.input("ids", "int64", ["N"]);
  const positions = graph.input("positions", "int64", ["N", 1]);
  const attention = segmentAttention(graph, policy.config, positions);
  const rows = graph.input("rows", "int64", ["R"]);
  const hidden = buildDecoder(graph, policy.config, weights, {
    ids,
    attention,
    checkpointed: checkpointed && loss !== null,
  });
  const taken = takeRows(hidden, rows);
  const head: HeadInputs = {
    // (h / T) W^T is logits / T, and [R, H] is far smaller than the logits.
    hidden: tempered
      ? multiply(taken, graph.input("inverse_temperatures", "float32", ["R", 1]))
      : taken,
    matrix: weights.get(policy.config.tiedEmbeddings ? embeddingName : headName),
    targets: graph.input("targets", "int64", ["padded"]),
    ...(biased
      ? {
          biases: {
            rows: graph.input("bias_rows", "float32", ["P", policy.config.vocabSize]),
            of: graph.input("bias_of", "int64", ["padded"]),
          },
        }
      : {}),
    chunks: graph.input("chunks", "int64", []),
    chunk: graph.input("chunk", "int64", [1]),
  };
  if (loss === null && quantity === "entropy") {
    graph.output("entropies", headValues(head, "entropy"));
    return { model: graph.encode(), fed: weights.fed };
  }
  const logprobs = headValues(head, "logprob");
  graph.output("logprobs", logprobs);
  if (loss !== null) {
    const objective = buildObjective(graph, loss, {
      logprobs,
      entropy: () => headValues(head, "entropy"),
    });
    graph.output("loss", objective.loss);
    for (const [name, value] of Object.entries(objective.sums)) graph.output(sumName(name), value);
    const trained = policy.trained.map(({ name }) => weights.get(name));
    for (const [i, gradient] of gradients(objective.loss, trained).entries()) {
      graph.output(gradientName(policy.trained[i]!.name), gradient);
    }
  }
  return { model: graph.encode(), fed: weights.fed };
}
