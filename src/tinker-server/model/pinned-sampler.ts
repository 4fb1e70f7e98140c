/**
 * One sampler for many sets of weights: requests for the same weights run together, and weights change only while
 * nothing runs, so every token of a sequence comes from the weights that it was sent to.
 */
import type { Sample, SampleRequest } from "../../core/policy.ts";
import { BatchSampler } from "../../engine/generation/batch-sampler.ts";
import { type Policy, withNewAdapter, writeTrained } from "../../engine/decoder/policy.ts";
import { type AdapterWeights, copyFactors } from "./adapter.ts";

/** Rank 0 is the base alone. */
export function shapePolicy(base: Policy, { rank, alpha }: AdapterWeights): Policy {
  return rank === 0 ? base : withNewAdapter(base, { rank, alpha });
}

/** @throws RequestError 400 where they do not fit; nothing is written then. */
export async function writeAdapter(policy: Policy, { factors }: AdapterWeights): Promise<void> {
  copyFactors(factors, policy.data);
  await writeTrained(policy, policy.weights);
}

interface Waiting {
  readonly weights: AdapterWeights;
  readonly start: () => Promise<unknown>;
  readonly reject: (error: unknown) => void;
}

export class PinnedSampler {
  readonly #sampler: BatchSampler;
  readonly #served: Policy;
  readonly #queue: Waiting[] = [];
  #active: AdapterWeights | null = null;
  #running = 0;
  #swapping = false;
  #swaps = 0;

  /** Owns `served`. */
  constructor(served: Policy) {
    this.#served = served;
    this.#sampler = new BatchSampler(served.weights);
  }

  sample(weights: AdapterWeights, request: SampleRequest): Promise<readonly Sample[]> {
    return new Promise((resolve, reject) => {
      const start = (): Promise<unknown> => this.#sampler.sample(request).then(resolve, reject);
      this.#queue.push({ weights, start, reject });
      void this.#pump();
    });
  }

  /** In order of arrival, so that no set of weights waits forever for another. */
  async #pump(): Promise<void> {
    if (this.#swapping) return;
    while (this.#queue.length > 0) {
      const { weights, start, reject } = this.#queue[0]!;
      if (weights !== this.#active) {
        if (this.#running > 0) return;
        this.#swapping = true;
        try {
          await this.#serve(weights);
        } catch (error) {
          this.#queue.shift();
          reject(error);
        } finally {
          this.#swapping = false;
        }
        continue;
      }
      this.#queue.shift();
      this.#running += 1;
      void start().finally(() => {
        this.#running -= 1;
        void this.#pump();
      });
    }
  }

  async #serve(weights: AdapterWeights): Promise<void> {
    this.#swaps += 1;
    // Until all of them are written.
    this.#active = null;
    await this.#sampler.swapWeights(() => writeAdapter(this.#served, weights), this.#swaps);
    this.#active = weights;
  }

  close(): Promise<void> {
    return this.#sampler.close();
  }
}
