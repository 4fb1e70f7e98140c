/**
 * One layer of the decoder, forward and backward. N tokens; H hidden, D head size, F feed-forward size. Norms stand
 * before the two branches (Llama), after them (OLMo 2), or both (Gemma 3).
 */
import type { ModelConfig } from "../model/model-config.ts";
import type { HeadShape } from "../tensor/operations/attention.ts";
import { gate, gateBackward } from "../tensor/operations/gate.ts";
import { norm, normBackward } from "../tensor/operations/norm.ts";
import { rotate } from "../tensor/operations/rotate.ts";
import { addRows, copyRows } from "../tensor/operations/rows.ts";
import type { Program } from "../tensor/program.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { layerName } from "../model/parameters.ts";
import type { Arena } from "./arena.ts";
import type { Gradients, Linear } from "./linear.ts";
import type { LayerWeights } from "./weights.ts";

/** Who attends to whom, and where keys come from: a batch's segments, or a cache. */
export interface Attention {
  /** mixed [N, heads D] from queries, keys and values [N, (heads + 2 key heads) D]. */
  attend(program: Program, layer: number, qkv: Tensor, mixed: Tensor, shape: HeadShape): void;
  /** The gradient of qkv. Absent where nothing is trained. */
  backward?(
    program: Program,
    layer: number,
    qkv: Tensor,
    dMixed: Tensor,
    dQkv: Tensor,
    shape: HeadShape,
  ): void;
}

/** Neighbouring rows of one adapter. */
export interface AdapterRows<Weights> {
  readonly first: number;
  readonly count: number;
  /** Of that adapter, on the common base. */
  readonly weights: Weights;
}

export interface LayerContext {
  readonly config: ModelConfig;
  readonly weights: LayerWeights;
  /** All rows, by their adapters. @default all have that of `weights`; a backward pass knows no other */
  readonly adapters?: readonly AdapterRows<LayerWeights>[];
  readonly layer: number;
  readonly attention: Attention;
  /** [1, N] */
  readonly positions: Tensor<"i32">;
}

/** What a layer computes, which its backward pass needs again; [N, ...] each. */
export interface LayerActivations {
  /** The input, after the norm where there is one. */
  readonly normed: Tensor;
  /** Before queries and keys are normalised; `qkv` itself where they are not. */
  readonly projected: Tensor;
  readonly qkv: Tensor;
  readonly mixed: Tensor;
  /** What attention adds, where a norm comes after it. */
  readonly attended: Tensor | null;
  /** After attention was added. */
  readonly middle: Tensor;
  readonly normedMiddle: Tensor;
  readonly gateUp: Tensor;
  readonly activated: Tensor;
  /** What the feed-forward adds, where a norm comes after it. */
  readonly fed: Tensor | null;
  /** Inputs through the first factors of adapters. */
  readonly narrow: Readonly<Record<LinearName, Tensor | null>>;
}
type LinearName = "queryKeyValue" | "output" | "gateUp" | "down";

function headShape({ config, weights }: LayerContext): HeadShape {
  const { heads, kvHeads, headSize, attentionScale } = config;
  return { heads, keyHeads: kvHeads, headSize, scale: attentionScale, window: weights.window };
}

/** Room for the activations of one layer. @param isKept where they are not, what a layer adds is added to `x` itself */
export function takeActivations(
  arena: Arena,
  tokens: number,
  { config, weights }: LayerContext,
  x: Tensor,
  isKept = true,
): LayerActivations {
  const { hiddenSize, heads, headSize, ffnSize } = config;
  const take = (columns: number): Tensor => arena.take(tokens, columns);
  const narrow = ({ rank }: Linear): Tensor | null => (rank === 0 ? null : take(rank));
  const qkv = take(weights.queryKeyValue.outputs);
  const middle = isKept ? take(hiddenSize) : x;
  return {
    normed: weights.beforeAttention === null ? x : take(hiddenSize),
    projected: weights.queryNorm === null ? qkv : take(qkv.columns),
    qkv,
    mixed: take(heads * headSize),
    attended: weights.afterAttention === null ? null : take(hiddenSize),
    middle,
    normedMiddle: weights.beforeFeedForward === null ? middle : take(hiddenSize),
    gateUp: take(2 * ffnSize),
    activated: take(ffnSize),
    fed: weights.afterFeedForward === null ? null : take(hiddenSize),
    narrow: {
      queryKeyValue: narrow(weights.queryKeyValue),
      output: narrow(weights.output),
      gateUp: narrow(weights.gateUp),
      down: narrow(weights.down),
    },
  };
}

/** y [N, H] from x [N, H]; y may be x where nothing is kept. */
export function layerForward(
  program: Program,
  context: LayerContext,
  x: Tensor,
  y: Tensor,
  kept: LayerActivations,
): void {
  const { config, weights } = context;
  const options = { epsilon: config.normEpsilon, offset: config.normOffset };
  const { normed, qkv, mixed, middle, normedMiddle, gateUp, activated, narrow } = kept;
  if (weights.beforeAttention !== null) norm(program, x, weights.beforeAttention, normed, options);
  project(program, context, "queryKeyValue", normed, kept.projected, narrow.queryKeyValue);
  normQueriesAndKeys(program, context, kept);
  turn(program, context, qkv, 1);
  context.attention.attend(program, context.layer, qkv, mixed, headShape(context));
  addBranch(
    program,
    context,
    "output",
    weights.afterAttention,
    x,
    mixed,
    middle,
    kept.attended,
    narrow.output,
    options,
  );
  if (weights.beforeFeedForward !== null)
    norm(program, middle, weights.beforeFeedForward, normedMiddle, options);
  project(program, context, "gateUp", normedMiddle, gateUp, narrow.gateUp);
  gate(program, gateUp, activated, config.activation);
  addBranch(
    program,
    context,
    "down",
    weights.afterFeedForward,
    middle,
    activated,
    y,
    kept.fed,
    narrow.down,
    options,
  );
}

/** One product with the base for all rows; the factors of an adapter for its own. */
function project(
  program: Program,
  { weights, adapters }: LayerContext,
  name: LinearName,
  x: Tensor,
  y: Tensor,
  narrow: Tensor | null,
  accumulate = false,
): void {
  if (adapters === undefined) return weights[name].forward(program, x, y, { narrow, accumulate });
  weights[name].forward(program, x, y, { narrow: null, accumulate });
  for (const { first, count, weights: own } of adapters) {
    const [from, to] = [x.slice(first, count), y.slice(first, count)];
    if (narrow !== null) own[name].addUpdate(program, from, to, narrow.slice(first, count));
  }
}

/** y = x + linear(branch), or x + norm(linear(branch)). */
function addBranch(
  program: Program,
  context: LayerContext,
  name: "output" | "down",
  after: Tensor | null,
  x: Tensor,
  branch: Tensor,
  y: Tensor,
  result: Tensor | null,
  narrow: Tensor | null,
  options: { readonly epsilon: number; readonly offset: number },
): void {
  if (x !== y) copyRows(program, x, y);
  project(program, context, name, branch, result ?? y, narrow, result === null);
  if (result !== null) norm(program, result, after!, y, { ...options, accumulate: true });
}

/** The columns of queries, keys and values. */
function split({ config }: LayerContext, qkv: Tensor): readonly [Tensor, Tensor, Tensor] {
  const q = config.heads * config.headSize;
  const k = config.kvHeads * config.headSize;
  return [qkv.columnsFrom(0, q), qkv.columnsFrom(q, k), qkv.columnsFrom(q + k, k)];
}

/** Each head by itself, or all of them together. */
function groupsOf({ config }: LayerContext, part: Tensor): number {
  return config.queryKeyNorm === "head" ? part.columns / config.headSize : 1;
}

function normQueriesAndKeys(
  program: Program,
  context: LayerContext,
  { projected, qkv }: LayerActivations,
): void {
  const { config, weights } = context;
  if (weights.queryNorm === null) return;
  const [from, to] = [split(context, projected), split(context, qkv)];
  for (const [i, weight] of [weights.queryNorm, weights.keyNorm!].entries())
    norm(program, from[i]!, weight, to[i]!, {
      epsilon: config.normEpsilon,
      offset: config.normOffset,
      groups: groupsOf(context, from[i]!),
    });
  copyRows(program, from[2], to[2]);
}

/** Queries and keys by their positions, or their gradients back. */
function turn(program: Program, context: LayerContext, qkv: Tensor, direction: 1 | -1): void {
  const { config, weights, positions } = context;
  if (weights.rotary === null) return;
  const { headSize } = config;
  const queriesAndKeys = qkv.columnsFrom(0, (config.heads + config.kvHeads) * headSize);
  rotate(program, queriesAndKeys, { headSize, positions, ...weights.rotary, direction });
}

/**
 * `d` [N, H], the gradient of the layer's output, becomes that of its input x; gradients of trained parameters are added
 * to `gradients`.
 */
export function layerBackward(
  program: Program,
  context: LayerContext,
  x: Tensor,
  d: Tensor,
  kept: LayerActivations,
  gradients: Gradients,
  arena: Arena,
): void {
  const { config, weights, layer } = context;
  const { projected, qkv, mixed, middle, gateUp, activated, narrow } = kept;
  const mark = arena.mark;
  const take = (like: Tensor): Tensor => arena.take(like.rows, like.columns);
  const options = { epsilon: config.normEpsilon, offset: config.normOffset };
  const gradientOf = (part: string | null): Tensor | null =>
    part === null ? null : (gradients.get(layerName(layer, part)) ?? null);
  /** The gradient of a branch's result, where a norm comes after it. */
  const beforeNorm = (
    result: Tensor | null,
    weight: Tensor | null,
    part: string | null,
  ): Tensor => {
    if (result === null) return d;
    const own = take(d);
    normBackward(program, result, weight!, d, own, {
      ...options,
      weightGradient: gradientOf(part),
    });
    return own;
  };
  /** Adds the gradient of a branch's input, which was `from` before its norm. */
  const addToResidual = (
    dBranch: Tensor,
    from: Tensor,
    weight: Tensor | null,
    part: string | null,
  ): void => {
    if (weight === null) return addRows(program, dBranch, d);
    const weightGradient = gradientOf(part);
    return normBackward(program, from, weight, dBranch, d, {
      ...options,
      accumulate: true,
      weightGradient,
    });
  };
  const { norms } = config;

  const dFed = beforeNorm(kept.fed, weights.afterFeedForward, norms.afterFeedForward);
  const dActivated = take(activated);
  weights.down.backward(
    program,
    { x: activated, narrow: narrow.down, dy: dFed, dx: dActivated },
    gradients,
    arena,
  );
  const dGateUp = take(gateUp);
  gateBackward(program, gateUp, dActivated, dGateUp, config.activation);
  const dMiddle = take(d);
  const input = { x: kept.normedMiddle, narrow: narrow.gateUp, dy: dGateUp, dx: dMiddle };
  weights.gateUp.backward(program, input, gradients, arena);
  addToResidual(dMiddle, middle, weights.beforeFeedForward, norms.beforeFeedForward);
  arena.release(mark);

  const dAttended = beforeNorm(kept.attended, weights.afterAttention, norms.afterAttention);
  const dMixed = take(mixed);
  weights.output.backward(
    program,
    { x: mixed, narrow: narrow.output, dy: dAttended, dx: dMixed },
    gradients,
    arena,
  );
  const dQkv = take(qkv);
  context.attention.backward!(program, layer, qkv, dMixed, dQkv, headShape(context));
  turn(program, context, dQkv, -1);
  if (weights.queryNorm !== null) {
    const [from, own] = [split(context, projected), split(context, dQkv)];
    for (const [i, weight] of [weights.queryNorm, weights.keyNorm!].entries())
      normBackward(program, from[i]!, weight, own[i]!, own[i]!, {
        ...options,
        groups: groupsOf(context, from[i]!),
        weightGradient: gradientOf(i === 0 ? "self_attn.q_norm" : "self_attn.k_norm"),
      });
  }
  const dNormed = take(d);
  const projection = { x: kept.normed, narrow: narrow.queryKeyValue, dy: dQkv, dx: dNormed };
  weights.queryKeyValue.backward(program, projection, gradients, arena);
  addToResidual(dNormed, x, weights.beforeAttention, norms.beforeAttention);
  arena.release(mark);
}
