/**
 * Which sequences may run, so that their caches stay within a bound. Knows what each needs, not
 * where it is stored.
 */
import { cacheBytesPerToken, type ModelConfig } from "../model/model-config.ts";
import { bucketLength } from "./decode-buckets.ts";
import { farthestCached, type Sequence } from "./sequence.ts";

export interface AdmissionLimits {
  readonly sequences: number;
  /** Of keys and values. */
  readonly bytes: number;
}

export class Admission {
  readonly #limits: AdmissionLimits;
  readonly #bytesPerToken: number;
  readonly #running = new Set<Sequence>();
  /** Preempted sequences, oldest first. They resume before new ones are admitted. */
  #preempted: readonly Sequence[] = [];

  constructor(config: ModelConfig, limits: AdmissionLimits) {
    this.#bytesPerToken = cacheBytesPerToken(config);
    this.#limits = limits;
  }

  get runningCount(): number {
    return this.#running.size;
  }

  /** Running and preempted. */
  get all(): readonly Sequence[] {
    return [...this.#running, ...this.#preempted];
  }

  isRunning(sequence: Sequence): boolean {
    return this.#running.has(sequence);
  }

  /** Whether a sequence with this many cached tokens may run too; one always may. */
  #hasRoom(cached: number): boolean {
    if (this.#running.size === 0) return true;
    if (this.#running.size >= this.#limits.sequences) return false;
    return this.#bytesWith(bucketLength(cached)) <= this.#limits.bytes;
  }

  /** What running sequences need, and `more` tokens. */
  #bytesWith(more: number): number {
    let tokens = more;
    for (const sequence of this.#running) tokens += bucketLength(farthestCached(sequence));
    return tokens * this.#bytesPerToken;
  }

  /** Whether a new sequence with a prompt of this length may run now. */
  admitsNew(promptTokens: number): boolean {
    return this.#preempted.length === 0 && this.#hasRoom(promptTokens);
  }

  add(sequence: Sequence): void {
    this.#running.add(sequence);
  }

  remove(sequence: Sequence): void {
    this.#running.delete(sequence);
    this.#preempted = this.#preempted.filter((other) => other !== sequence);
  }

  clear(): void {
    this.#running.clear();
    this.#preempted = [];
  }

  /** Preempted sequences for which there is room again; they are running afterwards. */
  takeBack(): readonly Sequence[] {
    const taken: Sequence[] = [];
    for (const sequence of this.#preempted) {
      // With room for one more length bucket, or it would soon be preempted again.
      if (!this.#hasRoom(bucketLength(farthestCached(sequence)))) break;
      taken.push(sequence);
      this.#running.add(sequence);
    }
    this.#preempted = this.#preempted.slice(taken.length);
    return taken;
  }

  /** The youngest sequences that no longer fit; they are preempted afterwards. */
  park(): readonly Sequence[] {
    const preempted: Sequence[] = [];
    while (this.#running.size > 1 && this.#bytesWith(0) > this.#limits.bytes) {
      const youngest = [...this.#running].reduce((a, b) => (b.order > a.order ? b : a));
      this.#running.delete(youngest);
      preempted.push(youngest);
    }
    this.#preempted = [...this.#preempted, ...preempted].toSorted((a, b) => a.order - b.order);
    return preempted;
  }
}
