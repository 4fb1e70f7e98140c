/** The overlapped stepper on a simulated backend, agent and clock. */
import type { TrainingBackend } from "../../../src/core/backend.ts";
import type { UnstampedEvent } from "../../../src/core/events.ts";
import { defaultSampling } from "../../../src/core/policy.ts";
import type { Task } from "../../../src/core/task.ts";
import type { TrainingRow } from "../../../src/core/training-row.ts";
import type { Episode, Step } from "../../../src/core/trajectory.ts";
import { createOverlapped } from "../../../src/trainer/async/overlapped.ts";
import { createBatchPlan } from "../../../src/trainer/batches.ts";
import { loadConfig } from "../../../src/trainer/config/load.ts";
import type { LoopContext, RolloutRequest } from "../../../src/trainer/loop-context.ts";
import { nothingHeld } from "../../../src/trainer/held-rollouts.ts";
import { type Held, type StepState } from "../../../src/trainer/stepper.ts";
import { allCapabilities } from "../coin-backend.ts";
import { VirtualClock } from "./virtual-clock.ts";

/** What one rollout does: model calls, each after a while. */
export interface RolloutPlan {
  /** Time before each call and after the last one. */
  readonly pauses: readonly number[];
  /** @default false */
  readonly fails?: boolean;
  /** @default alternates */
  readonly reward?: number;
}

export interface SimulationOptions {
  readonly tasks?: number;
  readonly steps: number;
  readonly set?: Readonly<Record<string, unknown>>;
  readonly rollout: (request: RolloutRequest, clock: VirtualClock) => RolloutPlan;
  /** Time of one update. @default 10 */
  readonly updateMs?: number;
  /** Time of asking the backend for its numbers. @default 0 */
  readonly metricsMs?: number;
}

export interface TrainedRow {
  readonly step: number;
  readonly served: number;
  readonly row: TrainingRow;
}

const logprobOf = (version: number, index: number): number => -0.5 - version / 64 - index / 4096;

function call(index: number, before: readonly number[], version: number): Step {
  const drawn = [1000 + 10 * index, 1001 + 10 * index];
  return {
    traceId: `call-${index}`,
    messages: [],
    response: { role: "assistant", content: "" },
    promptIds: Int32Array.from([...before, 7]),
    responseIds: Int32Array.from(drawn),
    logprobs: Float32Array.from(drawn, (_, i) => logprobOf(version, i)),
    stopReason: "stop",
    sampling: { ...defaultSampling, seed: 0, stopTokenIds: [] },
    weightVersion: version,
    reward: 0,
    done: false,
  };
}

/** What survives a kill: the last checkpoint. */
interface Saved {
  readonly held: Held;
  readonly state: StepState;
  readonly step: number;
}

export class Simulation {
  readonly clock = new VirtualClock();
  readonly trained: TrainedRow[] = [];
  readonly events: UnstampedEvent[] = [];
  readonly metrics: Readonly<Record<string, number>>[] = [];
  /** Versions that were served, with the rollouts under way at that moment. */
  readonly exchanges: { readonly version: number; readonly running: number }[] = [];
  readonly #options: SimulationOptions;
  #version = 0;
  #running = 0;
  mostRunning = 0;

  constructor(options: SimulationOptions) {
    this.#options = options;
  }

  #backend(): TrainingBackend {
    return {
      name: "simulated",
      capabilities: allCapabilities,
      start: () => Promise.reject(new Error("not used")),
      updatePolicy: async (rows) => {
        await this.clock.sleep(this.#options.updateMs ?? 10);
        const step = this.metrics.length + 1;
        for (const row of rows) this.trained.push({ step, served: this.#version, row });
        return { loss: 0 };
      },
      publishWeights: async () => {
        this.exchanges.push({ version: this.#version + 1, running: this.#running });
        return ++this.#version;
      },
      saveState: async () => {},
      loadState: async () => {},
      // Rollouts end and begin while a step is being measured, too.
      metrics: async () => {
        await this.clock.sleep(this.#options.metricsMs ?? 0);
        return {};
      },
      [Symbol.asyncDispose]: async () => {},
    };
  }

  async #rollout(request: RolloutRequest, signal: AbortSignal): Promise<Episode> {
    const plan = this.#options.rollout(request, this.clock);
    this.mostRunning = Math.max(this.mostRunning, ++this.#running);
    const steps: Step[] = [];
    let tokens: number[] = [];
    for (const [index, pause] of plan.pauses.entries()) {
      await this.clock.sleep(pause, signal);
      const step = call(index, tokens, this.#version);
      tokens = [...step.promptIds, ...step.responseIds];
      steps.push(step);
    }
    this.#running--;
    const fails = plan.fails === true || signal.aborted;
    const reward = plan.reward ?? request.rolloutIndex % 2;
    return {
      id: request.episodeId,
      task: request.task,
      rolloutIndex: request.rolloutIndex,
      trajectories: fails
        ? []
        : [
            {
              ...{ uid: request.episodeId, name: "agent", steps, reward, signals: {} },
              metadata: {},
            },
          ],
      output: undefined,
      isCorrect: fails ? null : reward > 0,
      reward: fails ? null : reward,
      terminationReason: fails ? "error" : "completed",
      metrics: {},
      metadata: {},
      attempts: 1,
    };
  }

  context(): LoopContext {
    const { tasks = 7, steps, set = {} } = this.#options;
    const { config } = loadConfig({
      overrides: {
        "model.name": "m",
        "rollout.n": 2,
        "data.train_batch_size": 3,
        "async_training.enable": true,
        "trainer.total_batches": steps,
        ...set,
      },
    });
    const list: Task[] = Array.from({ length: tasks }, (_, i) => ({
      ...{ id: `t${i}`, instruction: "", metadata: {} },
    }));
    const size = config.asyncTraining.miniBatchSize ?? config.data.trainBatchSize;
    return {
      config,
      backend: this.#backend(),
      estimators: new Map(),
      losses: new Map(),
      rollouts: async (requests, { signal }) =>
        await Promise.all(requests.map((request) => this.#rollout(request, signal))),
      batches: createBatchPlan(list, { batchSize: size, seed: 1 }),
      valTasks: [],
      totalSteps: steps,
      journal: {
        event() {},
        metrics() {},
        episodes() {},
        sync() {},
        close() {},
      },
      emit: (_step, event) => void this.events.push(event),
      signal: new AbortController().signal,
    };
  }

  /** Runs to the last step, or to `until`; then the process is gone, and what it held is returned. */
  async run(from: Saved | null = null, until: number = this.#options.steps): Promise<Saved> {
    const context = this.context();
    const position = { next: 0, pending: [] };
    const held = from?.held ?? { rollouts: nothingHeld, position };
    const stepper = createOverlapped(context, held, from?.step ?? 0);
    let state = from?.state ?? { weightVersion: 0, position, skippedUpdates: 0 };
    const guard = { begin() {}, unchanged() {} };
    return await this.clock.run(
      (async () => {
        let saved: Saved = { held, state, step: from?.step ?? 0 };
        try {
          for (let step = saved.step + 1; step <= until; step++) {
            const result = await stepper.step(step, state, guard);
            state = result.state;
            this.metrics.push(result.metrics);
            saved = { held: stepper.held(), state, step };
          }
        } finally {
          await stepper[Symbol.asyncDispose]();
        }
        return saved;
      })(),
    );
  }
}
