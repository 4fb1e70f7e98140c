/**
 * Sequences being decoded one token at a time, all with the same cache length T. A sequence that
 * outgrows its length bucket moves to the next, so that T depends on the sequence's own length alone.
 */
import { cacheBytesPerToken, type ModelConfig } from "../model/model-config.ts";
import { maskedScore } from "../model/attention.ts";
import type { PrefixNode } from "./prefix-tree.ts";
import { writePath } from "./prompt-cache.ts";
import type { SamplingSession, StepOutput } from "./sampling-session.ts";

/** What a bucket needs to know about a sequence. */
export interface BucketSequence {
  /** Tokens whose keys and values are cached. */
  cached: number;
  /** The token to feed next; its position is `cached`. */
  pending: number;
}

/** Number of rows below which a batch would be computed differently. */
const minSequences = 2;

export class DecodeBucket<S extends BucketSequence> {
  /** T */
  readonly cachedTokens: number;
  readonly sequences: S[] = [];
  readonly #config: ModelConfig;
  readonly #keys: Float32Array[];
  readonly #values: Float32Array[];
  #capacity = minSequences;

  /** @param expected sequences to have room for at once; growing copies them all */
  constructor(cachedTokens: number, config: ModelConfig, expected: number) {
    this.cachedTokens = cachedTokens;
    this.#config = config;
    while (this.#capacity < expected) this.#capacity *= 2;
    this.#keys = this.#allocate();
    this.#values = this.#allocate();
  }

  /** Floats of one sequence in one layer's keys. */
  get #slot(): number {
    return this.#config.kvHeads * this.cachedTokens * this.#config.headSize;
  }

  /** Allocated for keys and values. */
  get bytes(): number {
    return this.#capacity * this.cachedTokens * cacheBytesPerToken(this.#config);
  }

  #allocate(): Float32Array[] {
    const length = this.#capacity * this.#slot;
    return Array.from({ length: this.#config.layers }, () => new Float32Array(length));
  }

  /** Array by array, so that old and new ones are not all in memory at once. */
  #resize(capacity: number): void {
    const used = this.sequences.length * this.#slot;
    for (const arrays of [this.#keys, this.#values]) {
      for (const [layer, old] of arrays.entries()) {
        arrays[layer] = new Float32Array(capacity * this.#slot);
        arrays[layer].set(old.subarray(0, used));
      }
    }
    // Last: a failed allocation must leave a bucket that still works.
    this.#capacity = capacity;
  }

  #reserve(): number {
    if (this.sequences.length === this.#capacity) this.#resize(2 * this.#capacity);
    return this.sequences.length;
  }

  /** Frees memory beyond less than twice the current number of sequences. */
  shrink(): void {
    let capacity = this.#capacity;
    const least = Math.max(minSequences, this.sequences.length);
    while (capacity >= 2 * least) capacity /= 2;
    if (capacity < this.#capacity) this.#resize(capacity);
  }

  /** Adds a sequence whose cache is the prompt that ends in `node`. */
  addFromPrompt(sequence: S, node: PrefixNode): void {
    const slot = this.#reserve();
    writePath(
      node,
      { keys: this.#keys, values: this.#values },
      slot,
      this.cachedTokens,
      this.#config,
    );
    this.sequences.push(sequence);
  }

  /** Takes over sequence `index` of a shorter bucket. */
  addFromBucket(source: DecodeBucket<S>, index: number): void {
    const slot = this.#reserve();
    const { kvHeads, headSize, layers } = this.#config;
    const from = source.cachedTokens * headSize;
    const to = this.cachedTokens * headSize;
    for (let layer = 0; layer < layers; layer++) {
      for (let k = 0; k < kvHeads; k++) {
        const start = (index * kvHeads + k) * from;
        const target = (slot * kvHeads + k) * to;
        this.#keys[layer]!.set(source.#keys[layer]!.subarray(start, start + from), target);
        this.#values[layer]!.set(source.#values[layer]!.subarray(start, start + from), target);
      }
    }
    this.sequences.push(source.sequences[index]!);
  }

  /** Removes sequence `index` and what it cached: a mask hides stale numbers, but not NaN. */
  discard(index: number): void {
    const slot = this.#slot;
    for (const arrays of [this.#keys, this.#values])
      for (const array of arrays) array.fill(0, index * slot, (index + 1) * slot);
    this.remove(index);
  }

  /** A bucket of the same length with only sequence `index`, in a copy of its cache. */
  alone(index: number): DecodeBucket<S> {
    const bucket = new DecodeBucket<S>(this.cachedTokens, this.#config, 1);
    bucket.addFromBucket(this, index);
    return bucket;
  }

  /** Takes the cache of `alone(index)` over after a step. */
  takeFrom(alone: DecodeBucket<S>, index: number): void {
    const slot = this.#slot;
    for (const [own, other] of [
      [this.#keys, alone.#keys],
      [this.#values, alone.#values],
    ] as const) {
      for (const [layer, array] of own.entries())
        array.set(other[layer]!.subarray(0, slot), index * slot);
    }
  }

  /** Removes sequence `index`; the last one takes its place. */
  remove(index: number): void {
    const last = this.sequences.pop()!;
    if (index === this.sequences.length) return;
    this.sequences[index] = last;
    const slot = this.#slot;
    const from = this.sequences.length * slot;
    for (const arrays of [this.#keys, this.#values]) {
      for (const array of arrays) array.copyWithin(index * slot, from, from + slot);
    }
  }

  /**
   * Feeds every sequence its pending token.
   * @param uniforms for each sequence, to sample the next token; undefined where it is not sampled inside
   */
  async step(
    session: SamplingSession,
    uniforms: readonly (number | undefined)[],
    probabilities: boolean,
  ): Promise<StepOutput> {
    const count = this.sequences.length;
    const B = Math.max(minSequences, count);
    const isSampled = uniforms.some((uniform) => uniform !== undefined);
    const T = this.cachedTokens;
    const ids = new BigInt64Array(B);
    const positions = new BigInt64Array(B);
    const mask = new Float32Array(B * (T + 1));
    for (const [b, { pending, cached }] of this.sequences.entries()) {
      ids[b] = BigInt(pending);
      positions[b] = BigInt(cached);
      mask.fill(maskedScore, b * (T + 1) + cached, b * (T + 1) + T);
    }
    const output = await session.step({
      sequences: B,
      newTokens: 1,
      cachedTokens: T,
      ids,
      positions,
      mask,
      rows: BigInt64Array.from({ length: B }, (_, b) => BigInt(b)),
      cache: { keys: this.#keys, values: this.#values },
      probabilities,
      ...(isSampled
        ? { uniforms: Float64Array.from({ length: B }, (_, b) => uniforms[b] ?? 0) }
        : {}),
    });
    for (const [b, sequence] of this.sequences.entries()) {
      this.#append(output.keys, this.#keys, b, sequence.cached);
      this.#append(output.values, this.#values, b, sequence.cached);
      sequence.cached += 1;
    }
    return output;
  }

  #append(
    source: readonly Float32Array[],
    target: readonly Float32Array[],
    b: number,
    at: number,
  ): void {
    const { kvHeads, headSize, layers } = this.#config;
    for (let layer = 0; layer < layers; layer++) {
      const from = source[layer]!;
      const to = target[layer]!;
      for (let k = 0; k < kvHeads; k++) {
        const start = (b * kvHeads + k) * headSize;
        const place = ((b * kvHeads + k) * this.cachedTokens + at) * headSize;
        for (let d = 0; d < headSize; d++) to[place + d] = from[start + d]!;
      }
    }
  }
}
