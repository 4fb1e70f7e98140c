/**
 * The lanes of all running sequences, by the length of their cache, and the memory that they take.
 */
import { cacheBytesPerToken } from "../model/model-config.ts";
import type { ModelConfig } from "../model/model-config.ts";
import { Lane } from "./decode-bucket.ts";
import type { LaneSequence } from "./decode-bucket.ts";
import type { PrefixNode } from "./prefix-tree.ts";

/** Cache lengths of lanes are multiples of it: shorter ones waste less on padding, but split batches. */
const laneTokens = 128;

/** T of the lane for a sequence with so many cached tokens: a step writes one more. */
export function laneLength(cached: number): number {
  return Math.ceil((cached + 1) / laneTokens) * laneTokens;
}

export interface LanesOptions {
  /** How many a new lane may soon have: room for them at once saves copies. */
  readonly expectedSequences: () => number;
  /** Allocated before `trim` gives anything back. */
  readonly maxBytes: number;
}

export class Lanes<S extends LaneSequence> {
  readonly #config: ModelConfig;
  readonly #lanes = new Map<number, Lane<S>>();
  readonly #options: LanesOptions;

  constructor(config: ModelConfig, options: LanesOptions) {
    this.#config = config;
    this.#options = options;
  }

  *[Symbol.iterator](): Iterator<Lane<S>> {
    yield* this.#lanes.values();
  }

  /** Allocated, used or not. */
  get bytes(): number {
    return [...this].reduce((sum, lane) => sum + lane.bytes, 0);
  }

  #lane(cached: number): Lane<S> {
    const length = laneLength(cached);
    let lane = this.#lanes.get(length);
    if (lane === undefined) {
      const expected = this.#options.expectedSequences();
      const bytes = expected * length * cacheBytesPerToken(this.#config);
      const hasRoom = this.bytes + bytes <= this.#options.maxBytes;
      lane = new Lane(length, this.#config, hasRoom ? expected : 1);
      this.#lanes.set(length, lane);
    }
    return lane;
  }

  addFromPrompt(sequence: S, node: PrefixNode): void {
    this.#lane(sequence.cached).addFromPrompt(sequence, node);
  }

  /** Moves sequence `index` of `lane` to one with room for its next token. */
  moveOn(lane: Lane<S>, index: number): void {
    this.#lane(lane.sequences[index]!.cached).addFromLane(lane, index);
    lane.remove(index);
  }

  /** One that has not come to its end: what it leaves behind may be no numbers. */
  remove(sequence: S): void {
    for (const lane of this) {
      const index = lane.sequences.indexOf(sequence);
      if (index >= 0) lane.discard(index);
    }
  }

  /** Gives back what no sequence uses, if more than `maxBytes` are allocated. */
  trim(): void {
    if (this.bytes <= this.#options.maxBytes) return;
    this.dropEmpty();
    for (const lane of this) lane.shrink();
  }

  dropEmpty(): void {
    for (const [length, lane] of this.#lanes)
      if (lane.sequences.length === 0) this.#lanes.delete(length);
  }

  clear(): void {
    this.#lanes.clear();
  }
}
