/** Models that are loaded, up to a limit. Knows neither their requests nor how they are trained. */
import { RequestError } from "./request-error.ts";
import type { Adapter, AdapterSpec } from "./model/adapter.ts";
import type { OrderedRequests } from "./ordered-requests.ts";

export interface LoadedModel {
  readonly id: string;
  readonly sessionId: string;
  readonly adapter: Adapter;
  readonly requests: OrderedRequests;
  readonly userMetadata: Readonly<Record<string, unknown>> | null;
  /** Of the last `forward_backward` that failed. */
  failure: string | null;
}

export interface ModelLimits {
  readonly maxRank: number;
  readonly maxModels: number;
}

export class ModelTable {
  readonly #limits: ModelLimits;
  readonly #models = new Map<string, LoadedModel>();
  /** Models that are being made. */
  #making = 0;

  constructor(limits: ModelLimits) {
    this.#limits = limits;
  }

  /** @throws RequestError 404 */
  find(id: string): LoadedModel {
    const model = this.#models.get(id);
    if (model === undefined)
      throw new RequestError(404, `Model "${id}" is not loaded. Create it, or load a checkpoint.`);
    return model;
  }

  /** Oldest first. */
  ids(): readonly string[] {
    return [...this.#models.keys()];
  }

  /** @throws RequestError 400 for an adapter that cannot be made here. */
  checkSpec({ rank, trainAttention, trainMlp }: AdapterSpec): void {
    const { maxRank } = this.#limits;
    if (!(rank >= 1 && rank <= maxRank))
      throw new RequestError(400, `lora_config.rank is ${rank}, but must be from 1 to ${maxRank}.`);
    if (!trainAttention && !trainMlp)
      throw new RequestError(
        400,
        "This server adapts attention and MLP layers; neither is chosen.",
      );
  }

  /**
   * Runs `make`, which adds a model. Counted before the first wait, so that models that are made at the
   * same time keep to the limit, too.
   *
   * @throws RequestError 429 when there is no room.
   */
  async withRoom<T>(make: () => Promise<T>): Promise<T> {
    const { maxModels } = this.#limits;
    if (this.#models.size + this.#making >= maxModels)
      throw new RequestError(
        429,
        `${maxModels} models are loaded, and more do not fit. Close sessions that are done, or start the server with a larger --max-models.`,
      );
    this.#making += 1;
    try {
      return await make();
    } finally {
      this.#making -= 1;
    }
  }

  add(model: LoadedModel): void {
    this.#models.set(model.id, model);
  }

  delete(id: string): void {
    this.#models.delete(id);
  }

  /** Fails what waits for it with `reason`, too. */
  end(id: string, reason: RequestError): void {
    this.#models.get(id)?.requests.close(reason);
    this.#models.delete(id);
  }
}
