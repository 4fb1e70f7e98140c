/** Draws one token from a row of logits. Pure: the uniform number comes from the caller. */
import type { SamplingParams } from "../../core/policy.ts";

export interface PickedToken {
  readonly token: number;
  /** Natural log of p(token) under the full softmax at temperature 1. */
  readonly logprob: number;
}

type Shape = Pick<SamplingParams, "temperature" | "topP" | "topK" | "minP">;

/** Reused between calls: a fresh array of vocabulary size per token would keep the collector busy. */
let scratch = new Float64Array(0);

/**
 * Order of the filters as in Hugging Face and vLLM: temperature, top-k, top-p, min-p.
 * Ties go to the smaller id. `uniform` is in [0, 1). Arithmetic is in doubles.
 */
export function pickToken(logits: Float32Array, shape: Shape, uniform: number): PickedToken {
  const size = logits.length;
  if (scratch.length < size) scratch = new Float64Array(size);
  const masses = scratch;
  let best = 0;
  for (let v = 1; v < size; v++) if (logits[v]! > logits[best]!) best = v;
  const max = logits[best]!;
  let total = 0;
  for (let v = 0; v < size; v++) {
    const mass = Math.exp(logits[v]! - max);
    masses[v] = mass;
    total += mass;
  }
  const token = choose(logits, masses, best, total, shape, uniform);
  return { token, logprob: logits[token]! - max - Math.log(total) };
}

function choose(
  logits: Float32Array,
  masses: Float64Array,
  best: number,
  total: number,
  shape: Shape,
  uniform: number,
): number {
  if (shape.temperature === 0) return best;
  const isPlain = shape.topK === 0 && shape.topP >= 1 && shape.minP === 0;
  if (shape.temperature === 1 && isPlain) return drawFrom(masses, logits.length, total, uniform);
  const max = logits[best]!;
  let tempered = 0;
  for (let v = 0; v < logits.length; v++) {
    const mass = Math.exp((logits[v]! - max) / shape.temperature);
    masses[v] = mass;
    tempered += mass;
  }
  if (isPlain) return drawFrom(masses, logits.length, tempered, uniform);
  return drawFiltered(masses.subarray(0, logits.length), shape, uniform);
}

function drawFrom(masses: Float64Array, size: number, total: number, uniform: number): number {
  let rest = uniform * total;
  let last = 0;
  for (let v = 0; v < size; v++) {
    const mass = masses[v]!;
    if (mass === 0) continue;
    last = v;
    rest -= mass;
    if (rest < 0) return v;
  }
  // Rounding can leave a sliver of mass at the end.
  return last;
}

function drawFiltered(masses: Float64Array, shape: Shape, uniform: number): number {
  const order = Array.from(masses.keys()).toSorted((a, b) => masses[b]! - masses[a]! || a - b);
  let count = shape.topK > 0 ? Math.min(shape.topK, order.length) : order.length;
  const sum = (n: number): number => order.slice(0, n).reduce((s, v) => s + masses[v]!, 0);
  if (shape.topP < 1) {
    const limit = shape.topP * sum(count);
    let mass = 0;
    let kept = 0;
    while (kept < count && (kept === 0 || mass < limit)) mass += masses[order[kept++]!]!;
    count = kept;
  }
  if (shape.minP > 0) {
    const floor = shape.minP * masses[order[0]!]!;
    while (count > 1 && masses[order[count - 1]!]! < floor) count -= 1;
  }
  let rest = uniform * sum(count);
  for (let i = 0; i < count; i++) {
    rest -= masses[order[i]!]!;
    if (rest < 0) return order[i]!;
  }
  return order[count - 1]!;
}
