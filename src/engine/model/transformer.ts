/**
 * The decoder as a graph: token ids in, hidden states out. The same code builds the training pass
 * and the sampling pass; which token attends to which is decided by the attention that is passed in.
 * It does not know where weights come from or what happens to the hidden states.
 *
 * Sizes: N tokens; H hidden, D head size, K key/value heads, G query heads per key/value head.
 */
import { checkpoint } from "../graph/autodiff.ts";
import type { Graph, Value } from "../graph/graph.ts";
import { add, multiply, reshape } from "../graph/ops.ts";
import { embed, rmsNorm, rotaryTables, silu, type RotaryTables } from "../graph/model-ops.ts";
import type { ModelConfig } from "./model-config.ts";
import { embeddingName, finalNormName, layerName } from "./parameters.ts";
import { plainRope } from "./plain-decoder.ts";

/** How a graph accesses the model's weights. */
export interface Weights {
  /** A parameter by its name. */
  get(name: string): Value;
  /** x W^T, plus the low-rank update, if any. x: [N, in] -> [N, out]. */
  linear(x: Value, name: string): Value;
}

/** The inputs of a layer's attention, which encodes the positions in queries and keys. */
export interface Projections {
  /** [N, K G D] */
  readonly queries: Value;
  /** [N, K D] */
  readonly keys: Value;
  /** [N, K D] */
  readonly values: Value;
}

/** Weighted values, [N, K G D]. */
export type Attention = (layer: number, projections: Projections, tables: RotaryTables) => Value;

export interface DecoderInputs {
  /** [N] int64 */
  readonly ids: Value;
  readonly attention: Attention;
  /** Keep only the layers' inputs for the backward pass, and recompute the layers. @default false */
  readonly checkpointed?: boolean;
}

/** Hidden states, [N, H], normalized. */
export function buildDecoder(
  graph: Graph,
  config: ModelConfig,
  weights: Weights,
  inputs: DecoderInputs,
): Value {
  const tables = rotaryTables(graph, config.contextLength, plainRope(config).frequencies);
  const layerOf = (layer: number, input: Value): Value => {
    const norm = (part: string, y: Value): Value =>
      rmsNorm(y, weights.get(layerName(layer, part)), config.normEpsilon);
    const h = norm("input_layernorm", input);
    const mixed = inputs.attention(layer, project(config, weights, layer, h), tables);
    const x = add(input, weights.linear(mixed, layerName(layer, "self_attn.o_proj")));
    return add(x, feedForward(weights, layer, norm("post_attention_layernorm", x)));
  };
  let x = embed(weights.get(embeddingName), inputs.ids);
  for (let layer = 0; layer < config.layers; layer++) {
    x =
      inputs.checkpointed === true
        ? checkpoint(x, (input) => layerOf(layer, input))
        : layerOf(layer, x);
  }
  return rmsNorm(x, weights.get(finalNormName), config.normEpsilon);
}

/** SwiGLU (arXiv:2002.05202). */
function feedForward(weights: Weights, layer: number, x: Value): Value {
  const gate = silu(weights.linear(x, layerName(layer, "mlp.gate_proj")));
  const up = weights.linear(x, layerName(layer, "mlp.up_proj"));
  return weights.linear(multiply(gate, up), layerName(layer, "mlp.down_proj"));
}

function project(config: ModelConfig, weights: Weights, layer: number, x: Value): Projections {
  const { kvHeads, headSize, heads } = config;
  const linear = (part: string): Value => weights.linear(x, layerName(layer, `self_attn.${part}`));
  /** Each head's own normalization, where the model has one. */
  const normed = (part: string, norm: string, width: number): Value => {
    const flat = linear(part);
    if (config.queryKeyNorm === "none") return flat;
    const weight = weights.get(layerName(layer, `self_attn.${norm}`));
    const apart = reshape(flat, ["heads", headSize]);
    return reshape(rmsNorm(apart, weight, config.normEpsilon), ["N", width]);
  };
  return {
    queries: normed("q_proj", "q_norm", heads * headSize),
    keys: normed("k_proj", "k_norm", kvHeads * headSize),
    values: linear("v_proj"),
  };
}
