/**
 * Samples tokens inside the graph, where nothing is filtered and the temperature is 1: probabilities of
 * a large vocabulary need not leave it then. The same inverse of the cumulative distribution as in
 * `sample-token.ts`, in two steps: first a block of the vocabulary, then a token of it.
 */
import type { Graph, Value } from "../graph/graph.ts";
import { elementTypes } from "../onnx/model.ts";

/** Smaller vocabularies are sampled as fast outside the graph. */
export const minVocabulary = 8192;

/** Tokens in a block; the first that divides the vocabulary. */
const blockSizes = [256, 128, 512, 64, 1024] as const;

/** Below 1, so that the second step stays within the mass of the block sampled in the first. */
const almostOne = 1 - 2 ** -40;

export interface SampledTokens {
  /** [R] ids, exact in 32-bit floats. */
  readonly tokens: Value;
  /** [R] their probabilities. */
  readonly probabilities: Value;
}

/** Null for a vocabulary that no block size divides, or that is small. */
export function blockSizeOf(vocabulary: number): number | null {
  if (vocabulary < minVocabulary) return null;
  return blockSizes.find((size) => vocabulary % size === 0) ?? null;
}

/** @param probabilities [R, V]; @param uniforms [R] float64, in [0, 1) */
export function sampleTokens(
  probabilities: Value,
  uniforms: Value,
  blockSize: number,
): SampledTokens {
  const { graph } = probabilities;
  const [R, V] = probabilities.shape as readonly [string, number];
  const blocks = V / blockSize;
  const shape = graph.integers(-1, blocks, blockSize);
  const parts = graph.node("Reshape", [probabilities, shape], [R, blocks, blockSize]);
  const sums = graph.node("ReduceSum", [parts, graph.integers(-1)], [R, blocks], {
    attributes: { keepdims: 0 },
  });
  const block = sampleIndex(graph, asDoubles(graph, sums), uniforms);
  const inside = graph.node("GatherND", [parts, block.column], [R, blockSize], {
    attributes: { batch_dims: 1 },
  });
  const token = sampleIndex(graph, asDoubles(graph, inside), block.rest);
  const size = graph.integers(blockSize);
  const start = graph.node("Mul", [block.column, size], [R, 1], { dtype: "int64" });
  const id = graph.node("Add", [start, token.column], [R, 1], { dtype: "int64" });
  const chance = graph.node("GatherElements", [inside, token.column], [R, 1], {
    attributes: { axis: 1 },
  });
  const flat = (value: Value): Value => graph.node("Squeeze", [value, graph.integers(1)], [R]);
  return {
    tokens: flat(graph.node("Cast", [id], [R, 1], { attributes: { to: elementTypes.float32 } })),
    probabilities: flat(chance),
  };
}

interface SampledIndex {
  /** [R, 1] int64 */
  readonly column: Value;
  /** [R] float64, in [0, 1): the position of the uniform number within the sampled item's mass. */
  readonly rest: Value;
}

/** @param masses [R, n] float64, not normalized */
function sampleIndex(graph: Graph, masses: Value, uniforms: Value): SampledIndex {
  const [R, n] = masses.shape as readonly [string, number];
  const double = { dtype: "float64" } as const;
  const ends = graph.node("CumSum", [masses, graph.integers(1)], [R, n], double);
  const total = graph.node("Gather", [ends, graph.integers(n - 1)], [R, 1], {
    ...double,
    attributes: { axis: 1 },
  });
  const column = graph.node("Unsqueeze", [uniforms, graph.integers(1)], [R, 1], double);
  const target = graph.node("Mul", [column, total], [R, 1], double);
  const isPassed = graph.node("LessOrEqual", [ends, target], [R, n], { dtype: "bool" });
  const passed = graph.node("Cast", [isPassed], [R, n], {
    dtype: "int64",
    attributes: { to: elementTypes.int64 },
  });
  const index = graph.node("ReduceSum", [passed, graph.integers(1)], [R, 1], {
    dtype: "int64",
    attributes: { keepdims: 1 },
  });
  const at = (from: Value): Value =>
    graph.node("GatherElements", [from, index], [R, 1], { ...double, attributes: { axis: 1 } });
  const mass = at(masses);
  const before = graph.node("Sub", [at(ends), mass], [R, 1], double);
  const beyond = graph.node("Sub", [target, before], [R, 1], double);
  const share = graph.node("Div", [beyond, mass], [R, 1], double);
  const bounds = [0, almostOne].map((bound) => graph.double(bound));
  const clipped = graph.node("Clip", [share, ...bounds], [R, 1], double);
  const rest = graph.node("Squeeze", [clipped, graph.integers(1)], [R], double);
  return { column: index, rest };
}

function asDoubles(graph: Graph, value: Value): Value {
  return graph.node("Cast", [value], value.shape, {
    dtype: "float64",
    attributes: { to: elementTypes.float64 },
  });
}
