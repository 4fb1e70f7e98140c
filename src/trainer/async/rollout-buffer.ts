/**
 * Tasks from their start to the step that trains on them: running, or ready with all their rollouts.
 * The staleness plan bounds its size.
 */
import { listenToAbort } from "../../util/abort.ts";
import type { TaskRollouts } from "../../rollouts/task-rollouts.ts";
import { chooseForStep, mayBegin, type StalenessPlan } from "./staleness.ts";

interface Running {
  /** Index of the task in the order of the data. */
  readonly place: number;
  readonly since: number;
}

export class RolloutBuffer {
  readonly #plan: StalenessPlan;
  readonly #running = new Map<number, Running>();
  /** Replaced and never mutated: a checkpoint may be writing it. */
  #ready: readonly TaskRollouts[];
  /** Counted here and not by the step: rollouts continue between the end of one step and the next. */
  #used: number;
  #failure: { readonly error: unknown } | null = null;
  #wake: () => void = () => {};

  /** @param steps steps completed before. */
  constructor(plan: StalenessPlan, ready: readonly TaskRollouts[], steps: number) {
    this.#plan = plan;
    this.#ready = [...ready];
    this.#used = steps * plan.tasksPerStep;
  }

  /** Number of running tasks. */
  get running(): number {
    return this.#running.size;
  }

  get ready(): readonly TaskRollouts[] {
    return this.#ready;
  }

  /** Places of the running tasks, ascending. */
  get places(): number[] {
    return [...this.#running.keys()].sort((a, b) => a - b);
  }

  mayBegin(step: number): boolean {
    return mayBegin(this.#plan, step, this.#used + this.#running.size + this.#ready.length);
  }

  begin(place: number, since: number): void {
    this.#running.set(place, { place, since });
  }

  /** All rollouts of a task have ended, and it will be trained on. */
  finish(place: number, rollouts: TaskRollouts): void {
    this.#running.delete(place);
    this.#ready = [...this.#ready, rollouts];
    this.#wake();
  }

  /** A task left nothing to train on; another one may start in its place. */
  drop(place: number): void {
    this.#running.delete(place);
    this.#wake();
  }

  /** Nothing more will come: pending `take` calls reject with `error`. */
  fail(error: unknown): void {
    this.#failure ??= { error };
    this.#wake();
  }

  /** What step `step` trains on. It stays in the buffer until `use`. Rejects when the signal aborts. */
  async take(step: number, signal: AbortSignal): Promise<readonly TaskRollouts[]> {
    for (;;) {
      signal.throwIfAborted();
      if (this.#failure !== null) throw this.#failure.error;
      const chosen = chooseForStep(this.#plan, step, this.#ready, [...this.#running.values()]);
      if (chosen !== null) return chosen;
      await this.#change(signal);
    }
  }

  /** Removes what has been trained on. */
  use(rollouts: readonly TaskRollouts[]): void {
    const used = new Set(rollouts);
    this.#ready = this.#ready.filter((one) => !used.has(one));
    this.#used += used.size;
  }

  /** Resolves at the next change or when the signal aborts. Each rollout has its own deadline. */
  #change(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        signal.removeEventListener("abort", wake);
        this.#wake = () => {};
        resolve();
      };
      listenToAbort(signal, wake);
      this.#wake = wake;
    });
  }
}
