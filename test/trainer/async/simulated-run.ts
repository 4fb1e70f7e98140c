/** Asynchronous steps, and whole runs that are killed, on a simulated backend, agent and clock. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TrainingBackend } from "../../../src/core/backend.ts";
import type { UnstampedEvent } from "../../../src/core/events.ts";
import type { Task } from "../../../src/core/task.ts";
import type { TrainingRow } from "../../../src/core/loss/training-row.ts";
import type { Episode, Step } from "../../../src/core/trajectory.ts";
import { createAsyncStepper } from "../../../src/trainer/steppers/async.ts";
import { Budget } from "../../../src/trainer/budget/budget.ts";
import { createBatchPlan } from "../../../src/runs/batches.ts";
import { openGate } from "../../../src/rollouts/service/weight-gate.ts";
import { newestCheckpoint, servedState, type RunState } from "../../../src/runs/checkpoint.ts";
import { loadConfig } from "../../../src/config/load.ts";
import { type LoopResult, runLoop } from "../../../src/trainer/loop.ts";
import type { RolloutContext } from "../../../src/trainer/run-context.ts";
import type { RolloutRequest } from "../../../src/rollouts/rollout-request.ts";
import { type Snapshot, type StepState } from "../../../src/trainer/steppers/stepper.ts";
import { rewardGoal } from "../../../src/runs/validation-goal.ts";
import { allCapabilities } from "../coin-backend.ts";
import { makeStep } from "../../make-step.ts";
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
  /** Time of writing weights into a checkpoint. @default 0 */
  readonly saveMs?: number;
}

/** What ends a process before its run is done: SIGKILL, or the run's signal. */
export interface Ending {
  readonly afterMs: number;
  readonly kind: "kill" | "abort";
}

export interface TrainedRow {
  readonly step: number;
  readonly served: number;
  readonly row: TrainingRow;
}

/** Weights that `updates` updates have made draw token `index` with this log-probability. */
const logprobOf = (updates: number, index: number): number => -0.5 - updates / 64 - index / 4096;

/** How many updates had made the weights that drew a first token. */
export const updatesOf = (logprob: number): number => (-0.5 - logprob) * 64;

function call(index: number, before: readonly number[], served: Weights): Step {
  const { version, updates } = served;
  const sampled = [1000 + 10 * index, 1001 + 10 * index];
  return makeStep({
    id: `call-${index}`,
    promptIds: Int32Array.from([...before, 7]),
    responseIds: Int32Array.from(sampled),
    logprobs: Float32Array.from(sampled, (_, i) => logprobOf(updates, i)),
    weightVersion: version,
  });
}

/** What draws, and what it is called. */
interface Weights {
  readonly version: number;
  readonly updates: number;
}

/** What survives a kill: the last checkpoint. */
interface Saved {
  readonly snapshot: Snapshot;
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
  #served: Weights = { version: 0, updates: 0 };
  #updates = 0;
  #abort = new AbortController();
  #running = 0;
  maxRunning = 0;

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
        this.#updates++;
        for (const row of rows) this.trained.push({ step, served: this.#served.version, row });
        return { loss: 0 };
      },
      publishWeights: async () => {
        const version = this.#served.version + 1;
        this.exchanges.push({ version, running: this.#running });
        this.#served = { version, updates: this.#updates };
        return version;
      },
      // Time goes on only while weights are written, so rollouts end in the middle of a checkpoint.
      saveState: async (folder) => {
        const state = { updates: this.#updates, trained: this.trained.length };
        this.clock.go();
        await this.clock.sleep(this.#options.saveMs ?? 0);
        this.clock.stop();
        await writeFile(join(folder, "weights.json"), JSON.stringify(state));
      },
      loadState: async (folder, version) => {
        const text = await readFile(join(folder, "weights.json"), "utf8");
        const { updates, trained } = JSON.parse(text) as { updates: number; trained: number };
        this.#updates = updates;
        this.#served = { version, updates };
        // The weights that a killed process trained after the checkpoint are gone.
        this.trained.length = trained;
      },
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
    this.maxRunning = Math.max(this.maxRunning, ++this.#running);
    const steps: Step[] = [];
    let tokens: number[] = [];
    for (const [index, pause] of plan.pauses.entries()) {
      await this.clock.sleep(pause, signal);
      const step = call(index, tokens, this.#served);
      tokens = [...step.trace.promptIds, ...step.trace.responseIds];
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

  context(): RolloutContext {
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
      gate: openGate,
      estimators: new Map(),
      losses: new Map(),
      rollouts: async (requests, { signal }) =>
        await Promise.all(requests.map((request) => this.#rollout(request, signal))),
      batches: createBatchPlan(list, { batchSize: size, seed: 1 }),
      valTasks: [],
      totalSteps: steps,
      journal: {
        event() {},
        metrics: (_step, _phase, values) => void this.metrics.push(values),
        episodes() {},
        tokens() {},
        flush: () => Promise.resolve(),
        sync: () => this.clock.stop(),
        close() {},
      },
      emit: (_step, event) => {
        this.events.push(event);
        if (event.type === "checkpoint-save") this.clock.go();
      },
      warnOnce: () => {},
      signal: this.#abort.signal,
      budget: new Budget({ tokens: null, usd: null, prices: null }),
    };
  }

  /** Runs to the last step, or to `until`; then the process is gone, and what it held is returned. */
  async run(from: Saved | null = null, until: number = this.#options.steps): Promise<Saved> {
    const context = this.context();
    const position = { next: 0, pending: [] };
    const snapshot = from?.snapshot ?? {
      rollouts: [],
      position,
      hasUnservedWeights: false,
    };
    const before = { steps: from?.step ?? 0, resumeVersions: [] };
    const stepper = createAsyncStepper(context, snapshot, before);
    let state = from?.state ?? { weightVersion: 0, position, skippedUpdates: 0 };
    const guard = { begin() {}, unchanged() {} };
    return await this.clock.run(
      (async () => {
        let saved: Saved = { snapshot, state, step: from?.step ?? 0 };
        try {
          for (let step = saved.step + 1; step <= until; step++) {
            const result = await stepper.step(step, state, guard);
            state = result.state;
            this.metrics.push(result.metrics);
            saved = { snapshot: stepper.snapshot(), state, step };
          }
        } finally {
          await stepper[Symbol.asyncDispose]();
        }
        return saved;
      })(),
    );
  }

  /**
   * A process that goes on with the newest checkpoint in `folder`, as a resumed run does, until the run
   * is done or it is ended. Null when it was killed.
   */
  async process(folder: string, ending: Ending | null): Promise<LoopResult | null> {
    const checkpoint = await newestCheckpoint(folder, (error) => {
      throw error;
    });
    this.#abort = new AbortController();
    this.#running = 0;
    this.#updates = 0;
    this.#served = { version: 0, updates: 0 };
    if (checkpoint === null) this.trained.length = 0;
    const context = this.context();
    const state = checkpoint === null ? atStart : servedState(checkpoint.state);
    if (checkpoint !== null)
      await context.backend.loadState(checkpoint.weights, state.weightVersion);
    const { step: steps, position, hasUnservedWeights, resumeVersions } = state;
    const rollouts = checkpoint?.rollouts ?? [];
    const before = { rollouts, position, hasUnservedWeights };
    const stepper = createAsyncStepper(context, before, { steps, resumeVersions });
    const work = runLoop(context, stepper, {
      goal: rewardGoal(context.config),
      health: { see: () => {} },
      state,
      checkpoint: checkpoint?.path ?? null,
      checkpointFolder: folder,
    }).finally(() => stepper[Symbol.asyncDispose]());
    if (ending === null) return await this.clock.run(work);
    const end = this.clock.now + ending.afterMs;
    if (ending.kind === "kill") return await this.clock.runUntil(work, end);
    void this.clock.sleep(ending.afterMs).then(() => this.#abort.abort(new Error("interrupted")));
    return await this.clock.run(work);
  }
}

const atStart: RunState = {
  step: 0,
  position: { next: 0, pending: [] },
  skippedUpdates: 0,
  best: null,
  weightVersion: 0,
  hasUnservedWeights: false,
  resumeVersions: [],
  validatedStep: -1,
  configHash: "",
  dataHash: "",
};
