/**
 * The length buckets of all running sequences, by cache length, and the memory that they take.
 */
import { cacheBytesPerToken, type ModelConfig } from "../model/model-config.ts";
import { DecodeBucket, type BucketSequence } from "./decode-bucket.ts";
import type { PrefixNode } from "./prefix-tree.ts";

/** Cache lengths of buckets are multiples of it: shorter ones waste less on padding, but split batches. */
const bucketTokens = 128;

/** T of the bucket for a sequence with this many cached tokens: a step writes one more. */
export function bucketLength(cached: number): number {
  return Math.ceil((cached + 1) / bucketTokens) * bucketTokens;
}

export interface DecodeBucketsOptions {
  /** How many sequences a new bucket may soon have: room for them at once saves copies. */
  readonly expectedSequences: () => number;
  /** Allocated before `trim` gives anything back. */
  readonly maxBytes: number;
}

export class DecodeBuckets<S extends BucketSequence> {
  readonly #config: ModelConfig;
  readonly #buckets = new Map<number, DecodeBucket<S>>();
  readonly #options: DecodeBucketsOptions;

  constructor(config: ModelConfig, options: DecodeBucketsOptions) {
    this.#config = config;
    this.#options = options;
  }

  *[Symbol.iterator](): Iterator<DecodeBucket<S>> {
    yield* this.#buckets.values();
  }

  /** Allocated, used or not. */
  get bytes(): number {
    return [...this].reduce((sum, bucket) => sum + bucket.bytes, 0);
  }

  #bucket(cached: number): DecodeBucket<S> {
    const length = bucketLength(cached);
    let bucket = this.#buckets.get(length);
    if (bucket === undefined) {
      const expected = this.#options.expectedSequences();
      const bytes = expected * length * cacheBytesPerToken(this.#config);
      const hasRoom = this.bytes + bytes <= this.#options.maxBytes;
      bucket = new DecodeBucket(length, this.#config, hasRoom ? expected : 1);
      this.#buckets.set(length, bucket);
    }
    return bucket;
  }

  addFromPrompt(sequence: S, node: PrefixNode): void {
    this.#bucket(sequence.cached).addFromPrompt(sequence, node);
  }

  /** Moves sequence `index` of `bucket` to one with room for its next token. */
  moveOn(bucket: DecodeBucket<S>, index: number): void {
    this.#bucket(bucket.sequences[index]!.cached).addFromBucket(bucket, index);
    bucket.remove(index);
  }

  /** One that did not finish: what it leaves behind may be NaN. */
  remove(sequence: S): void {
    for (const bucket of this) {
      const index = bucket.sequences.indexOf(sequence);
      if (index >= 0) bucket.discard(index);
    }
  }

  /** Frees what no sequence uses, if more than `maxBytes` are allocated. */
  trim(): void {
    if (this.bytes <= this.#options.maxBytes) return;
    this.dropEmpty();
    for (const bucket of this) bucket.shrink();
  }

  dropEmpty(): void {
    for (const [length, bucket] of this.#buckets)
      if (bucket.sequences.length === 0) this.#buckets.delete(length);
  }

  clear(): void {
    this.#buckets.clear();
  }
}
