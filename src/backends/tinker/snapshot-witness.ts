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

export interface SnapshotComparison {
  readonly finding: SnapshotFinding;
  /** The new snapshot. */
  readonly current: SamplingClient;
  /** Of the new snapshot, for the step after. */
  readonly next: SnapshotWitness;
}

/** The newest snapshot, and what it said of the prompt before a step. */
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
    const before = await score(sampler, signal);
    const again = await score(sampler, signal);
    const tolerance = Math.max(leastTolerance, 4 * largestDifference(before, again));
    return new SnapshotWitness(sampler, before, tolerance);
  }

  /**
   * After an optimizer step. The old snapshot is asked before there is a new one: a server that has one
   * adapter for training and sampling loads another snapshot over it when that is asked for.
   *
   * @param makeCurrent the snapshot of the weights after the step.
   */
  async compare(
    makeCurrent: () => Promise<SamplingClient>,
    signal?: AbortSignal,
  ): Promise<SnapshotComparison> {
    const after = await this.#scoreAgain(signal);
    const current = await makeCurrent();
    const scores = await score(current, signal);
    const moved = largestDifference(scores, this.#before);
    const first = this.#judge(after, moved);
    // The newest snapshot may have taken the place of the old one.
    const finding =
      first.kind === "frozen" ? this.#judge(await this.#scoreAgain(signal), moved) : first;
    return { finding, current, next: new SnapshotWitness(current, scores, this.#tolerance) };
  }

  #judge(scores: Float32Array | null, moved: number): SnapshotFinding {
    if (scores === null) return { kind: "gone", drift: 0, moved };
    const drift = largestDifference(scores, this.#before);
    if (Math.max(drift, moved) <= this.#tolerance) return { kind: "unmoved", drift, moved };
    const isLive = drift > this.#tolerance && drift > moved / 2;
    return { kind: isLive ? "live" : "frozen", drift, moved };
  }

  /** Null where the server has dropped it. */
  async #scoreAgain(signal?: AbortSignal): Promise<Float32Array | null> {
    try {
      return await score(this.#sampler, signal);
    } catch (error) {
      if (error instanceof TinkerError) return null;
      throw error;
    }
  }
}

function score(sampler: SamplingClient, signal?: AbortSignal): Promise<Float32Array> {
  return sampler.computeLogprobs(prompt, signal === undefined ? {} : { signal });
}

/** The first token has no log-probability. */
function largestDifference(a: Float32Array, b: Float32Array): number {
  return a.slice(1).reduce((most, value, i) => Math.max(most, Math.abs(value - b[i + 1]!)), 0);
}
