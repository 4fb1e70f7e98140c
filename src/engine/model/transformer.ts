/**
 * The decoder as a graph: token ids in, hidden states out. The same code builds the training pass
 * (whole sequences, causal mask) and the sampling pass (new tokens against cached keys and values).
 * It does not know where weights come from or what happens to the hidden states.
 *
 * Sizes: B sequences, S new tokens each, N = B S, T cached tokens; H hidden, D head size,
 * K key/value heads, G query heads per key/value head.
 */
import { checkpoint } from "../graph/autodiff.ts";
import type { Graph, Value } from "../graph/graph.ts";
import { concatLast, matmul, multiply, add, reshape, softmax, transpose } from "../graph/ops.ts";
import { embed, rmsNorm, rotary, rotaryTables, silu } from "../graph/model-ops.ts";
import type { RotaryTables } from "../graph/model-ops.ts";
import type { ModelConfig } from "./model-config.ts";
import { embeddingName, finalNormName, layerName } from "./parameters.ts";

/** What a mask holds where a token may not look: exp of it is 0, and it stays finite with scores added. */
export const maskedScore = -1e9;

/** How a graph gets at the model's weights. */
export interface Weights {
  /** A parameter by its name. */
  get(name: string): Value;
  /** x W^T, plus the low-rank update where there is one. x: [N, in] -> [N, out]. */
  linear(x: Value, name: string): Value;
}

export interface DecoderInputs {
  /** [N] int64 */
  readonly ids: Value;
  /** [B, S] int64 */
  readonly positions: Value;
  /** Added to the scores; broadcasts to [B, K, G, S, T + S] (without a cache: [B, K, G, S, S]). */
  readonly mask: Value;
  /** Cached keys and values of a layer, [B, K, T, D] each. */
  readonly cache?: (layer: number) => { readonly keys: Value; readonly values: Value };
  /** Keep only the layers' inputs for the backward pass, and compute layers again. @default false */
  readonly checkpointed?: boolean;
}

export interface DecoderOutputs {
  /** [N, H], normalised. */
  readonly hidden: Value;
  /** Per layer, [B, K, S, D]: what to append to the cache. Not with `checkpointed`. */
  readonly keys: readonly Value[];
  readonly values: readonly Value[];
}

export function buildDecoder(
  graph: Graph,
  config: ModelConfig,
  weights: Weights,
  inputs: DecoderInputs,
): DecoderOutputs {
  const tables = rotaryTables(graph, config.contextLength, config.ropeFrequencies);
  const keys: Value[] = [];
  const values: Value[] = [];
  const layerOf = (layer: number, input: Value): Value => {
    const norm = (part: string, y: Value): Value =>
      rmsNorm(y, weights.get(layerName(layer, part)), config.normEpsilon);
    const h = norm("input_layernorm", input);
    const attention = buildAttention(config, weights, inputs, tables, layer, h);
    keys[layer] = attention.keys;
    values[layer] = attention.values;
    const x = add(input, attention.output);
    return add(x, feedForward(weights, layer, norm("post_attention_layernorm", x)));
  };
  let x = embed(weights.get(embeddingName), inputs.ids);
  for (let layer = 0; layer < config.layers; layer++) {
    x =
      inputs.checkpointed === true
        ? checkpoint(x, (input) => layerOf(layer, input))
        : layerOf(layer, x);
  }
  return { hidden: rmsNorm(x, weights.get(finalNormName), config.normEpsilon), keys, values };
}

/** SwiGLU (arXiv:2002.05202). */
function feedForward(weights: Weights, layer: number, x: Value): Value {
  const gate = silu(weights.linear(x, layerName(layer, "mlp.gate_proj")));
  const up = weights.linear(x, layerName(layer, "mlp.up_proj"));
  return weights.linear(multiply(gate, up), layerName(layer, "mlp.down_proj"));
}

function buildAttention(
  config: ModelConfig,
  weights: Weights,
  inputs: DecoderInputs,
  tables: RotaryTables,
  layer: number,
  x: Value,
): { output: Value; keys: Value; values: Value } {
  const { kvHeads: K, headSize: D, heads } = config;
  const G = heads / K;
  const project = (part: string): Value => weights.linear(x, layerName(layer, `self_attn.${part}`));
  const turned = (part: string, norm: string, width: number): Value => {
    const flat = project(part);
    // Per head, before turning: its own normalisation where the model has one.
    const normed = config.queryKeyNorm
      ? rmsNorm(
          reshape(flat, ["heads", D]),
          weights.get(layerName(layer, `self_attn.${norm}`)),
          config.normEpsilon,
        )
      : flat;
    return rotary(reshape(normed, ["B", "S", width]), inputs.positions, tables);
  };
  // Queries that share keys are stacked, so that one product serves the whole group.
  const grouped = transpose(
    reshape(turned("q_proj", "q_norm", heads * D), ["B", "S", K, G, D]),
    [0, 2, 3, 1, 4],
  );
  const queries = reshape(grouped, ["B", K, "GS", D]);
  const keys = transpose(
    reshape(turned("k_proj", "k_norm", K * D), ["B", "S", K, D]),
    [0, 2, 1, 3],
  );
  const values = transpose(reshape(project("v_proj"), ["B", "S", K, D]), [0, 2, 1, 3]);
  const scores = (against: Value): Value =>
    matmul(queries, against, { transposeB: true, alpha: 1 / Math.sqrt(D) });
  const attend = (all: Value, size: string): Value => {
    const masked = add(reshape(all, ["B", K, G, "S", size]), inputs.mask);
    return reshape(softmax(masked), ["B", K, "GS", size]);
  };
  let mixed: Value;
  if (inputs.cache === undefined) {
    mixed = matmul(attend(scores(keys), "S"), values);
  } else {
    const cache = inputs.cache(layer);
    const weightsOf = attend(concatLast(scores(cache.keys), scores(keys), "TS"), "TS");
    const { graph } = x;
    const split = (from: Value, to: Value, size: string): Value =>
      graph.node("Slice", [weightsOf, from, to, graph.integers(3)], ["B", K, "GS", size]);
    const boundary = graph.sizeOf("T");
    mixed = add(
      matmul(split(graph.integers(0), boundary, "T"), cache.values),
      matmul(split(boundary, graph.integers(2 ** 31 - 1), "S"), values),
    );
  }
  const ungrouped = transpose(reshape(mixed, ["B", K, G, "S", D]), [0, 3, 1, 2, 4]);
  const output = weights.linear(
    reshape(ungrouped, ["N", heads * D]),
    layerName(layer, "self_attn.o_proj"),
  );
  return { output, keys, values };
}
