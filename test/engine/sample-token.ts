/** Test oracle: samples one token from a row of probabilities. Pure: the uniform number comes from the caller. */
import { isTempered, type SampledToken } from "../../src/engine/generation/sequence.ts";
import type { SamplingParams } from "../../src/core/policy.ts";

type Shape = Pick<SamplingParams, "temperature" | "topP" | "topK" | "minP">;

function isUnfiltered({ topK, topP, minP }: Shape): boolean {
  return topK === 0 && topP >= 1 && minP === 0;
}

type Masses = Float32Array | Float64Array;

/** Reused between calls: a fresh array of vocabulary size per token would keep the garbage collector busy. */
let scratch = new Float64Array(0);

/**
 * `probabilities` [V]: the softmax at temperature 1. Order of the filters as in Hugging Face and vLLM:
 * temperature, top-k, top-p, min-p. Ties go to the smaller id. `uniform` is in [0, 1). Sums are in
 * double precision.
 */
export function sampleToken(
  probabilities: Float32Array,
  shape: Shape,
  uniform: number,
): SampledToken {
  const logprobOf = (token: number): number => Math.log(probabilities[token]!);
  if (!isTempered(shape)) {
    const token =
      shape.temperature === 0 ? mostLikely(probabilities) : choose(probabilities, shape, uniform);
    return { token, logprob: logprobOf(token) };
  }
  const masses = tempered(probabilities, shape.temperature);
  const sum = total(masses);
  const token = choose(masses, shape, uniform, sum);
  return { token, logprob: logprobOf(token), temperedLogprob: Math.log(masses[token]! / sum) };
}

function choose(masses: Masses, shape: Shape, uniform: number, sum?: number): number {
  if (!isUnfiltered(shape)) return sampleFiltered(masses, shape, uniform);
  return sample(masses, uniform, sum ?? total(masses));
}

function mostLikely(masses: Masses): number {
  let best = 0;
  for (let v = 1; v < masses.length; v++) if (masses[v]! > masses[best]!) best = v;
  return best;
}

/** p^(1 / temperature), scaled so that the largest is 1. */
function tempered(probabilities: Float32Array, temperature: number): Float64Array {
  if (scratch.length < probabilities.length) scratch = new Float64Array(probabilities.length);
  const masses = scratch.subarray(0, probabilities.length);
  const highest = Math.log(probabilities[mostLikely(probabilities)]!);
  for (let v = 0; v < masses.length; v++)
    masses[v] = Math.exp((Math.log(probabilities[v]!) - highest) / temperature);
  return masses;
}

/** Four sums at a time: one alone would wait for each addition. */
function total(masses: Masses): number {
  const whole = masses.length - (masses.length % 4);
  let [a, b, c, d] = [0, 0, 0, 0];
  for (let v = 0; v < whole; v += 4) {
    a += masses[v]!;
    b += masses[v + 1]!;
    c += masses[v + 2]!;
    d += masses[v + 3]!;
  }
  for (let v = whole; v < masses.length; v++) a += masses[v]!;
  return a + b + c + d;
}

/** @param sum of all masses */
function sample(masses: Masses, uniform: number, sum: number): number {
  let rest = uniform * sum;
  let last = 0;
  for (let v = 0; v < masses.length; v++) {
    const mass = masses[v]!;
    if (mass === 0) continue;
    last = v;
    rest -= mass;
    if (rest < 0) return v;
  }
  // Rounding can leave a sliver of mass at the end.
  return last;
}

const sumOf = (ids: readonly number[], masses: Masses): number =>
  ids.reduce((sum, v) => sum + masses[v]!, 0);

/** The ids of all masses from `floor` on, largest first. */
function sortedFrom(masses: Masses, floor: number): number[] {
  const ids: number[] = [];
  for (let v = 0; v < masses.length; v++) if (masses[v]! >= floor) ids.push(v);
  return ids.sort((a, b) => masses[b]! - masses[a]! || a - b);
}

/**
 * The largest masses, in order, until `isEnough`. Sorting the whole vocabulary would take longer than
 * the model; what is kept is mostly a handful.
 */
function largest(masses: Masses, isEnough: (ids: readonly number[]) => boolean): number[] {
  const highest = masses[mostLikely(masses)]!;
  for (let floor = highest / 64; floor > 1e-30 * highest; floor /= 64) {
    const ids = sortedFrom(masses, floor);
    if (isEnough(ids)) return ids;
  }
  return sortedFrom(masses, 0);
}

function sampleFiltered(masses: Masses, { topK, topP, minP }: Shape, uniform: number): number {
  let ids: number[];
  if (topK > 0) {
    ids = largest(masses, ({ length }) => length >= topK).slice(0, topK);
    if (topP < 1) ids = nucleus(ids, masses, topP * sumOf(ids, masses));
  } else if (topP < 1) {
    const limit = topP * total(masses);
    ids = nucleus(
      largest(masses, (some) => sumOf(some, masses) >= limit),
      masses,
      limit,
    );
  } else {
    ids = sortedFrom(masses, minP * masses[mostLikely(masses)]!);
  }
  const floor = minP * masses[ids[0]!]!;
  ids = ids.filter((v) => masses[v]! >= floor);
  let rest = uniform * sumOf(ids, masses);
  for (const v of ids) {
    rest -= masses[v]!;
    if (rest < 0) return v;
  }
  return ids.at(-1)!;
}

/** The smallest prefix of `ids`, at least one, whose masses reach `limit`. */
function nucleus(ids: readonly number[], masses: Masses, limit: number): number[] {
  let mass = 0;
  let kept = 0;
  while (kept < ids.length && (kept === 0 || mass < limit)) mass += masses[ids[kept++]!]!;
  return ids.slice(0, kept);
}
