/** Hidden states of tokens, with nothing kept: what sampling computes, and log-probabilities without gradients. */
import { embed } from "../tensor/operations/embed.ts";
import { norm } from "../tensor/operations/norm.ts";
import type { Program } from "../tensor/program.ts";
import type { Tensor } from "../tensor/tensor.ts";
import type { Arena } from "./arena.ts";
import {
  layerForward,
  takeActivations,
  type AdapterRows,
  type Attention,
  type LayerContext,
} from "./layer.ts";
import type { DecoderWeights } from "./weights.ts";

export interface PassInput {
  /** [1, N] */
  readonly ids: Tensor<"i32">;
  /** [1, N] */
  readonly positions: Tensor<"i32">;
  readonly attention: Attention;
  /** All rows, by their adapters. @default all have that of the weights */
  readonly adapters?: readonly AdapterRows<DecoderWeights>[];
}

export function contextOf(
  weights: DecoderWeights,
  layer: number,
  { adapters, ...input }: Omit<PassInput, "ids">,
): LayerContext {
  const rows = adapters?.map((own) => ({ ...own, weights: own.weights.layers[layer]! }));
  const shared = { config: weights.config, weights: weights.layers[layer]!, layer, ...input };
  return rows === undefined ? shared : { ...shared, adapters: rows };
}

/** [N, H], after the last norm; in `arena`, like everything that is needed on the way. */
export function forwardPass(
  program: Program,
  weights: DecoderWeights,
  input: PassInput,
  arena: Arena,
): Tensor {
  const { config, layers } = weights;
  const tokens = input.ids.columns;
  const x = arena.take(tokens, config.hiddenSize);
  const y = arena.take(tokens, config.hiddenSize);
  const { ids, ...rest } = input;
  embed(program, ids, weights.embedding, x, config.embeddingScale);
  const mark = arena.mark;
  for (const layer of layers.keys()) {
    const context = contextOf(weights, layer, rest);
    layerForward(program, context, x, x, takeActivations(arena, tokens, context, x, false));
    arena.release(mark);
  }
  norm(program, x, weights.finalNorm, y, {
    epsilon: config.normEpsilon,
    offset: config.normOffset,
  });
  return y;
}

/** [R, V] logits of hidden states [R, H]. */
export function logitsOf(
  program: Program,
  weights: DecoderWeights,
  hidden: Tensor,
  logits: Tensor,
): void {
  weights.head.forward(program, hidden, logits, { narrow: null });
}
