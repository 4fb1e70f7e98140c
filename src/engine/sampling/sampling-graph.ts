/**
 * The graph of sampling: S new tokens of each of B sequences against T cached ones. Keys and values
 * of the new tokens are small outputs; the cache itself is only an input, since returning it would
 * copy it (which costs more than the computation).
 */
import { Graph, type Operators } from "../graph/graph.ts";
import { takeRows } from "../graph/model-ops.ts";
import { softmax } from "../graph/ops.ts";
import { embeddingName, headName } from "../model/parameters.ts";
import type { PolicyModel } from "../model/policy-model.ts";
import type { QuantizedMatrix } from "../model/quantized-matrix.ts";
import { buildDecoder } from "../model/transformer.ts";
import { declareWeights } from "../model/weight-source.ts";
import type { BuiltGraph } from "../training/training-graph.ts";
import { cachedAttention, type KeysAndValues } from "./cached-attention.ts";
import { blockSizeOf, sampleTokens } from "./sample-tokens.ts";

export const cachedKeys = (layer: number): string => `cached_keys_${layer}`;
export const cachedValues = (layer: number): string => `cached_values_${layer}`;
export const newKeys = (layer: number): string => `new_keys_${layer}`;
export const newValues = (layer: number): string => `new_values_${layer}`;

export interface BuiltSamplingGraph extends BuiltGraph {
  /** It can sample tokens inside the graph. */
  readonly samples: boolean;
}

export interface SamplingGraphOptions {
  /** Matrices in few bits, by name. @default none */
  readonly quantized?: ReadonlyMap<string, QuantizedMatrix>;
  /** @default "fused" */
  readonly operators?: Operators;
}

/**
 * Inputs: `ids` [B S], `positions` [B, S], `mask` [B, 1, 1, S, T + S], `rows` [R] (which of the B S
 * hidden states are continued), and per layer the cache [B, K, 1, T, D]. Outputs: `probabilities` [R, V]
 * of the next token, and per layer the new keys and values [B, K, 1, S, D]. Where tokens are sampled inside,
 * further an input `uniforms` [R] and outputs `tokens` and `sampled_probabilities` [R].
 */
export function buildSamplingGraph(
  policy: PolicyModel,
  { quantized = new Map(), operators = "fused" }: SamplingGraphOptions = {},
): BuiltSamplingGraph {
  const { config } = policy;
  const graph = new Graph({ operators });
  const weights = declareWeights(graph, {
    ...policy,
    differentiate: false,
    quantized,
    integers: operators === "fused" ? policy.integers : null,
  });
  const ids = graph.input("ids", "int64", ["N"]);
  const positions = graph.input("positions", "int64", ["B", "S"]);
  const mask = graph.input("mask", "float32", ["B", 1, 1, "S", "TS"]);
  const rows = graph.input("rows", "int64", ["R"]);
  const shape = ["B", config.kvHeads, 1, "T", config.headSize];
  const caches = Array.from({ length: config.layers }, (_, layer) => ({
    keys: graph.input(cachedKeys(layer), "float32", shape),
    values: graph.input(cachedValues(layer), "float32", shape),
  }));
  const cacheOf = (layer: number): KeysAndValues => caches[layer]!;
  const { attention, added } = cachedAttention(config, { positions, mask, cacheOf });
  const hidden = buildDecoder(graph, config, weights, { ids, attention });
  const head = config.tiedEmbeddings ? embeddingName : headName;
  const logits = weights.linear(takeRows(hidden, rows), head);
  // Here and not where tokens are sampled: the runtime is many times faster at exponentials.
  const probabilities = softmax(logits);
  graph.output("probabilities", probabilities);
  const blockSize = operators === "fused" ? blockSizeOf(config.vocabSize) : null;
  if (blockSize !== null) {
    const uniforms = graph.input("uniforms", "float64", ["R"]);
    const { tokens, probabilities: ofSampled } = sampleTokens(probabilities, uniforms, blockSize);
    graph.output("tokens", tokens);
    graph.output("sampled_probabilities", ofSampled);
  }
  for (let layer = 0; layer < config.layers; layer++) {
    graph.output(newKeys(layer), added[layer]!.keys);
    graph.output(newValues(layer), added[layer]!.values);
  }
  return { model: graph.encode(), fed: weights.fed, samples: blockSize !== null };
}
