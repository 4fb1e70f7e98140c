/**
 * Wraps a backend whose inference servers cannot respond while weights change: calls wait until the
 * new weights are served, and then carry their version. If servers share memory with training, calls
 * wait from the start of the update.
 */
import type { TrainingBackend } from "../../core/backend.ts";

/** The part of the gateway that a weight sync needs. */
export interface WeightGate {
  /** Makes new calls wait; resolves with the number still in flight after at most `drainMs`. */
  pause(drainMs: number): Promise<number>;
  resume(): void;
  setWeightVersion(version: number): void;
}

/**
 * The backend with `gate` around its updates. If an update fails, calls continue with the weights
 * that are served. `drainMs`: how long calls in flight may take to end before the update begins.
 */
export function withPausedGateway(
  backend: TrainingBackend,
  gate: WeightGate,
  drainMs: number,
): TrainingBackend {
  const released = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      gate.resume();
      throw error;
    }
  };
  return {
    name: backend.name,
    // Read each time: a backend may know more about its server once it has started.
    get capabilities() {
      return backend.capabilities;
    },
    start: (run) => backend.start(run),
    async updatePolicy(...update) {
      if (backend.capabilities.servesWhileTraining === true) return backend.updatePolicy(...update);
      await gate.pause(drainMs);
      return released(backend.updatePolicy(...update));
    },
    async publishWeights() {
      await gate.pause(drainMs);
      const version = await released(backend.publishWeights());
      gate.setWeightVersion(version);
      gate.resume();
      return version;
    },
    ...(backend.forward === undefined ? {} : { forward: backend.forward.bind(backend) }),
    saveState: (folder) => backend.saveState(folder),
    loadState: (folder, version) => backend.loadState(folder, version),
    ...(backend.metrics === undefined ? {} : { metrics: backend.metrics.bind(backend) }),
    [Symbol.asyncDispose]: () => backend[Symbol.asyncDispose](),
  };
}
