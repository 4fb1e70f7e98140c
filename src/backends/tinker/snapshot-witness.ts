/**
 * Whether a snapshot keeps its weights while training continues: a fixed prompt is scored by an old
 * snapshot before and after an optimizer step. Knows nothing of losses.
 */
import { TinkerError } from "../../tinker-api/tinker-error.ts";
import type { SamplingClient } from "../../tinker-api/sampling-client.ts";

/** Arbitrary small ids: every model has them. */
const prompt = Int32Array.from({ length: 16 }, (_, i) => 5 + i);
/** In nats. Two computations of the same number may differ by less. */
const leastTolerance = 1e-4;

/** Largest differences of log-probabilities of the prompt, in nats. */
export interface SnapshotFinding {
  /**
   * `unmoved`: the step changed too little to tell. `gone`: the server does not have the old snapshot any
   * more.
   */
  readonly kind: "frozen" | "live" | "unmoved" | "gone";
  /** Of the old snapshot, after the step from before it. */
  readonly drift: number;
  /** Of the new snapshot from the old one before the step. */
  readonly moved: number;
}

/** An old snapshot, and what it said of the prompt when it was new. */
export class SnapshotWitness {
  readonly #sampler: SamplingClient;
  readonly #before: Float32Array;
  readonly #tolerance: number;

  private constructor(sampler: SamplingClient, before: Float32Array, tolerance: number) {
    this.#sampler = sampler;
    this.#before = before;
    this.#tolerance = tolerance;
  }

  /** Scores the prompt twice: how much two computations differ is what a step must exceed. */
  static async of(sampler: SamplingClient, signal?: AbortSignal): Promise<SnapshotWitness> {
    const options = signal === undefined ? {} : { signal };
    const before = await sampler.computeLogprobs(prompt, options);
    const again = await sampler.computeLogprobs(prompt, options);
    const tolerance = Math.max(leastTolerance, 4 * largestDifference(before, again));
    return new SnapshotWitness(sampler, before, tolerance);
  }

  /** @param current a snapshot of the weights after an optimizer step. */
  async compare(current: SamplingClient, signal?: AbortSignal): Promise<SnapshotFinding> {
    const options = signal === undefined ? {} : { signal };
    const moved = largestDifference(await current.computeLogprobs(prompt, options), this.#before);
    let now: Float32Array;
    try {
      now = await this.#sampler.computeLogprobs(prompt, options);
    } catch (error) {
      if (!(error instanceof TinkerError)) throw error;
      return { kind: "gone", drift: 0, moved };
    }
    const drift = largestDifference(now, this.#before);
    if (Math.max(drift, moved) <= this.#tolerance) return { kind: "unmoved", drift, moved };
    const isLive = drift > this.#tolerance && drift > moved / 2;
    return { kind: isLive ? "live" : "frozen", drift, moved };
  }
}

/** The first token has no log-probability. */
function largestDifference(a: Float32Array, b: Float32Array): number {
  return a.slice(1).reduce((most, value, i) => Math.max(most, Math.abs(value - b[i + 1]!)), 0);
}
