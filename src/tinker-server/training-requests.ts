/**
 * The requests of a step, in the order of their model: gradients, the optimizer, and what a failed
 * part of a batch means for the step after it. Knows neither HTTP nor sessions.
 */
import type { OptimSpec } from "../core/loss/loss.ts";
import type { ForwardBackwardRequest } from "../tinker-api/messages.ts";
import type { Futures } from "./futures.ts";
import type { GradientNormalization } from "./model/adapter.ts";
import type { BaseModel } from "./model/base-model.ts";
import { readLossRequest } from "./model/loss-request.ts";
import type { LoadedModel } from "./model-table.ts";

export interface TrainingRequestsOptions {
  readonly base: BaseModel;
  readonly futures: Futures;
  /** Makes a future of what is running. */
  readonly start: (running: Promise<unknown>, sessionId: string) => string;
  /** Tensors that a forward pass may be given though its loss does not read them. */
  readonly unreadInForward: readonly string[];
}

export class TrainingRequests {
  readonly #options: TrainingRequestsOptions;

  constructor(options: TrainingRequestsOptions) {
    this.#options = options;
  }

  /** @returns the future of its result. */
  forwardBackward(
    model: LoadedModel,
    request: ForwardBackwardRequest,
    fingerprint: string,
  ): string {
    const { base, futures, unreadInForward } = this.#options;
    // A client that saw the failure and sends anew does not mean what came before it.
    const isAnew = model.failure !== null && futures.wasClaimed(model.failure);
    const work = async (): Promise<unknown> => {
      if (isAnew && !request.forwardOnly) model.adapter.allowStep();
      try {
        const unread = request.forwardOnly ? unreadInForward : [];
        const lossRequest = readLossRequest(request, base.limits, unread);
        return await base.forwardBackward(model.adapter, lossRequest, !request.forwardOnly);
      } catch (error) {
        if (!request.forwardOnly) this.refuseStep(model, error, () => future);
        throw error;
      }
    };
    const future: string = this.submit(model, request.seqId, fingerprint, work);
    return future;
  }

  /**
   * A step on part of a batch would be a step that no client requested.
   * @param future of the request that failed.
   */
  refuseStep(model: LoadedModel, reason: unknown, future: () => string): void {
    model.adapter.refuseStep(reason);
    model.failure = future();
  }

  /** Runs `work` in the model's order. @returns the future of its result. */
  submit(
    { requests, sessionId }: LoadedModel,
    seqId: number | null,
    fingerprint: string,
    work: () => Promise<unknown>,
  ): string {
    const start = (running: Promise<unknown>): string => this.#options.start(running, sessionId);
    return requests.submit(seqId, fingerprint, work, start);
  }

  optimStep(
    model: LoadedModel,
    optim: OptimSpec,
    normalization?: GradientNormalization,
  ): Record<string, number> {
    return this.#options.base.optimStep(model.adapter, optim, normalization);
  }
}
