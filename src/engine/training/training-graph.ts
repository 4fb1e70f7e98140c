/** The graphs of training: a loss with its gradients, or log-probabilities alone. */
import type { LossSpec } from "../../core/loss.ts";
import { gradients } from "../graph/autodiff.ts";
import { Graph } from "../graph/graph.ts";
import { matmul, multiply, sum } from "../graph/ops.ts";
import { takeRows, targetLogprobs } from "../graph/model-ops.ts";
import { tokenLosses } from "../loss/catalog.ts";
import { embeddingName, headName } from "../model/parameters.ts";
import type { PolicyModel } from "../model/policy-model.ts";
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

/**
 * Inputs as in `MicroBatch`. Outputs: `logprobs` [R]; with a loss also `loss` (a scalar) and one
 * gradient per trained parameter. The head runs on the R trained tokens only.
 */
export function buildTrainingGraph(policy: PolicyModel, loss: LossSpec | null): BuiltGraph {
  const graph = new Graph();
  const weights = declareWeights(graph, { ...policy, differentiate: loss !== null });
  const ids = graph.input("ids", "int64", ["N"]);
  const positions = graph.input("positions", "int64", ["B", "S"]);
  const mask = graph.input("mask", "float32", [1, 1, 1, "S", "S"]);
  const rows = graph.input("rows", "int64", ["R"]);
  const targets = graph.input("targets", "int64", ["R"]);
  const { hidden } = buildDecoder(graph, policy.config, weights, { ids, positions, mask });
  const head = weights.get(policy.config.tiedEmbeddings ? embeddingName : headName);
  const logits = matmul(takeRows(hidden, rows), head, { transposeB: true });
  const logprobs = targetLogprobs(logits, targets);
  graph.output("logprobs", logprobs);
  if (loss !== null) {
    const terms = tokenLosses[loss.name](
      {
        logprobs,
        samplingLogprobs: graph.input("sampling_logprobs", "float32", ["R"]),
        advantages: graph.input("advantages", "float32", ["R"]),
      },
      loss,
    );
    const total = sum(multiply(terms, graph.input("weights", "float32", ["R"])));
    graph.output("loss", total);
    const trained = policy.trained.map(({ name }) => weights.get(name));
    for (const [i, gradient] of gradients(total, trained).entries()) {
      graph.output(gradientName(policy.trained[i]!.name), gradient);
    }
  }
  return { model: graph.encode(), fed: weights.fed };
}
