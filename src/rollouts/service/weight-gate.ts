/**
 * Where calls wait while the weights that serve them change. Inference servers cannot respond while they
 * load weights: calls wait until the new ones are served, and then carry their version.
 */
import type { TrainingBackend } from "../../core/backend.ts";

/** Every update and every weight sync of a run goes through it. */
export interface WeightGate {
  /**
   * Runs an optimizer step. Calls wait from its start if servers share memory with training; if it
   * fails, they continue with the weights that are served.
   */
  update<T>(backend: Pick<TrainingBackend, "capabilities">, step: () => Promise<T>): Promise<T>;
  /** Serves the trained weights and resolves with their version. */
  publish(backend: Pick<TrainingBackend, "publishWeights">): Promise<number>;
}

/** For a sampler in this process, which changes its weights between two tokens: no call waits. */
export const openGate: WeightGate = {
  update: (_backend, step) => step(),
  publish: (backend) => backend.publishWeights(),
};

/** The part of the gateway that a weight sync needs. */
export interface PausableGateway {
  /** Makes new calls wait; resolves with the number still in flight after at most `drainMs`. */
  pause(drainMs: number): Promise<number>;
  resume(): void;
  setWeightVersion(version: number): void;
}

/** @param drainMs how long calls in flight may take to end before the weights change. */
export function createWeightGate(gateway: PausableGateway, drainMs: number): WeightGate {
  async function paused<T>(work: () => Promise<T>): Promise<T> {
    await gateway.pause(drainMs);
    try {
      return await work();
    } catch (error) {
      gateway.resume();
      throw error;
    }
  }
  return {
    // Read each time: a backend may know more about its server once it has started.
    update: (backend, step) =>
      backend.capabilities.servesWhileTraining === true ? step() : paused(step),
    async publish(backend) {
      const version = await paused(() => backend.publishWeights());
      gateway.setWeightVersion(version);
      gateway.resume();
      return version;
    },
  };
}
