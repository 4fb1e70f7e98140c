/**
 * One sampling session for many sets of weights: requests for the same weights run together, and
 * weights change only while nothing runs, so every token of a sequence comes from the weights that it
 * was sent to.
 */
import type { Sample, SampleRequest } from "../../core/policy.ts";
import type { PolicyModel } from "../../engine/model/policy-model.ts";
import { BatchSampler } from "../../engine/sampling/batch-sampler.ts";
import type { AdapterWeights } from "./adapter.ts";

interface Waiting {
  readonly weights: AdapterWeights;
  readonly start: () => Promise<unknown>;
}

export class PinnedSampler {
  readonly #sampler: BatchSampler;
  readonly #served: Map<string, Float32Array>;
  readonly #queue: Waiting[] = [];
  #active: AdapterWeights | null = null;
  #running = 0;
  #swapping = false;
  #swaps = 0;

  private constructor(sampler: BatchSampler, served: Map<string, Float32Array>) {
    this.#sampler = sampler;
    this.#served = served;
  }

  static async create(policy: PolicyModel, threads: number): Promise<PinnedSampler> {
    const served = new Map(policy.data);
    for (const { name, shape } of policy.loraParameters)
      served.set(name, new Float32Array(shape.reduce((n, dim) => n * dim, 1)));
    return new PinnedSampler(
      await BatchSampler.create({ ...policy, data: served }, { threads }),
      served,
    );
  }

  sample(weights: AdapterWeights, request: SampleRequest): Promise<readonly Sample[]> {
    return new Promise((resolve, reject) => {
      const start = (): Promise<unknown> => this.#sampler.sample(request).then(resolve, reject);
      this.#queue.push({ weights, start });
      void this.#pump();
    });
  }

  /** In order of arrival, so that no set of weights waits forever for another. */
  async #pump(): Promise<void> {
    if (this.#swapping) return;
    while (this.#queue.length > 0) {
      const { weights, start } = this.#queue[0]!;
      if (weights !== this.#active) {
        if (this.#running > 0) return;
        this.#swapping = true;
        await this.#serve(weights).finally(() => (this.#swapping = false));
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
    await this.#sampler.swapWeights(() => {
      for (const [name, values] of weights.factors) this.#served.get(name)!.set(values);
    }, this.#swaps);
    this.#active = weights;
  }

  close(): Promise<void> {
    return this.#sampler.close();
  }
}
