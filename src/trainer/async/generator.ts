/**
 * Keeps rollouts running while the model trains: starts tasks in the order of the data as far as the
 * buffer allows, `workflow.n_parallel_tasks` rollouts at a time.
 */
import type { UnstampedEvent } from "../../core/events.ts";
import { isScored } from "../../core/outcome.ts";
import type { Task } from "../../core/task.ts";
import type { Episode } from "../../core/trajectory.ts";
import { requestsOf, rolloutsKey, scoreGroup } from "../rollouts/collect.ts";
import type { DataPosition } from "../../runs/checkpoint.ts";
import { sampledTokens } from "../../runs/episode-metrics.ts";
import { checkFailures } from "../../rollouts/service/failures.ts";
import type { RolloutContext } from "../run-context.ts";
import type { RolloutRequest } from "../../rollouts/rollout-request.ts";
import { assessTask, SolveCounts } from "../rollouts/rejection.ts";
import type { TaskRollouts } from "../../rollouts/task-rollouts.ts";
import type { RolloutBuffer } from "./rollout-buffer.ts";
import { weightSyncsBefore, type StalenessPlan } from "./staleness.ts";

/** A task that is running. */
interface BegunTask {
  readonly place: number;
  readonly key: string;
  readonly since: number;
  readonly episodes: Episode[];
  left: number;
}

interface WaitingRollout {
  readonly task: BegunTask;
  readonly request: RolloutRequest;
}

/** What happened since the last step. */
export interface Generated {
  /** Rollouts of tasks that were dropped. */
  readonly dropped: readonly Episode[];
  /** Tokens sampled in rollouts that ended. */
  readonly tokens: number;
  readonly metrics: Readonly<Record<string, number>>;
}

export class Generator implements AsyncDisposable {
  readonly #context: RolloutContext;
  readonly #plan: StalenessPlan;
  readonly #buffer: RolloutBuffer;
  readonly #inFlight = new Map<Promise<void>, AbortController>();
  readonly #waiting: WaitingRollout[] = [];
  /**
   * The failure rate is computed over as many recent rollouts as a step has; they are kept without
   * tokens.
   */
  readonly #recent: Episode[] = [];
  /** Started by an earlier process that did not finish them. */
  readonly #again: number[];
  #next: number;
  #step = 0;
  #pauses = 0;
  #isOver = false;
  #onIdle: () => void = () => {};
  #since = {
    dropped: [] as Episode[],
    tokens: 0,
    failed: 0,
    leftOut: 0,
    counts: new SolveCounts(),
  };

  constructor(
    context: RolloutContext,
    plan: StalenessPlan,
    buffer: RolloutBuffer,
    position: DataPosition,
  ) {
    this.#context = context;
    this.#plan = plan;
    this.#buffer = buffer;
    this.#next = position.next;
    this.#again = [...position.pending];
  }

  /** Tasks started so far, and those of them that must run again if the run ends now. */
  get position(): DataPosition {
    return { next: this.#next, pending: [...this.#buffer.places, ...this.#again] };
  }

  /** Batches with tasks that are to begin, or to begin again if the run ends now. */
  get batches(): readonly number[] {
    const { next, pending } = this.position;
    return [...new Set([...pending, next].map((place) => this.#batchOf(place)))];
  }

  #batchOf(place: number): number {
    return Math.floor(place / this.#context.batches.batchSize) + 1;
  }

  /** Step `step` begins: rollouts may run further ahead. */
  advance(step: number): void {
    this.#step = step;
    this.#pump();
  }

  /** Starts no rollout until `resume`, which must be called as many times. */
  pause(): void {
    this.#pauses++;
  }

  resume(): void {
    this.#pauses--;
    this.#pump();
  }

  /**
   * Resolves when no rollout is running; call `pause` first. The deadlines of the rollouts bound the
   * wait.
   */
  async idle(): Promise<void> {
    while (this.#inFlight.size > 0) {
      await new Promise<void>((resolve) => (this.#onIdle = resolve));
    }
  }

  /** What happened since the last call. */
  report(): Generated {
    const { dropped, tokens, failed, counts } = this.#since;
    this.#since = { dropped: [], tokens: 0, failed: 0, leftOut: 0, counts: new SolveCounts() };
    return {
      dropped,
      tokens,
      metrics: {
        ...(this.#context.config.rejectionSample.enable ? counts.metrics() : {}),
        ...this.#context.batches.adaptive?.metrics(),
        "async/dropped_failed": failed,
        "async/running_tasks": this.#buffer.running,
        "async/ready_tasks": this.#buffer.ready.length,
        "async/running_rollouts": this.#inFlight.size,
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    for (const cut of this.#inFlight.values()) cut.abort();
    await Promise.allSettled(this.#inFlight.keys());
  }

  #pump(): void {
    const limit = this.#context.config.workflow.nParallelTasks;
    while (this.#pauses === 0 && !this.#isOver && this.#inFlight.size < limit) {
      if (this.#waiting.length === 0 && !this.#beginTask()) return;
      const next = this.#waiting.shift();
      if (next !== undefined) this.#start(next);
    }
  }

  #beginTask(): boolean {
    if (!this.#buffer.mayBegin(this.#step)) return false;
    const place = this.#again.shift() ?? this.#next++;
    const { batches, config } = this.#context;
    const batch = batches.batch(this.#batchOf(place));
    const task = batch[place % batches.batchSize] as (typeof batch)[number];
    const since = weightSyncsBefore(this.#plan, this.#step);
    const begun = {
      place,
      key: rolloutsKey(place, task),
      since,
      episodes: [],
      left: config.rollout.n,
    };
    this.#buffer.begin(place, since);
    for (const request of requestsOf(this.#context, place, task)) {
      this.#waiting.push({ task: begun, request });
    }
    return true;
  }

  #start(rollout: WaitingRollout): void {
    // One signal per rollout: a shared one would collect a listener for every rollout.
    const cut = new AbortController();
    const work = this.#run(rollout, cut.signal)
      .catch((error: unknown) => this.#buffer.fail(error))
      .finally(() => {
        this.#inFlight.delete(work);
        if (this.#inFlight.size === 0) this.#onIdle();
        this.#pump();
      });
    this.#inFlight.set(work, cut);
  }

  async #run({ task, request }: WaitingRollout, signal: AbortSignal): Promise<void> {
    const { rollouts, emit } = this.#context;
    const [episode] = await rollouts([request], {
      isValidation: false,
      signal,
      onEvent: (event) => emit(this.#step, event),
    });
    // Cut off because the run ends: it counts as not done.
    if (this.#isOver || episode === undefined) return;
    task.episodes[request.rolloutIndex] = episode;
    task.left--;
    this.#since.tokens += sampledTokens([episode]);
    if (this.#context.groupEvaluator === undefined) this.#watch(episode);
    if (task.left > 0) return;
    const scored = await this.#scoreTogether(task, request.task, signal);
    if (scored !== null) this.#end({ ...task, episodes: scored });
  }

  /** Null when the run ends meanwhile. */
  async #scoreTogether(
    { episodes }: BegunTask,
    task: Task,
    signal: AbortSignal,
  ): Promise<Episode[] | null> {
    if (this.#context.groupEvaluator === undefined) return episodes;
    const emit = (event: UnstampedEvent): void => this.#context.emit(this.#step, event);
    const scored = await scoreGroup(this.#context, task, episodes, signal, emit);
    if (this.#isOver) return null;
    for (const episode of scored) this.#watch(episode);
    return [...scored];
  }

  /** @throws AgentTrainerError TOO_MANY_FAILURES */
  #watch(episode: Episode): void {
    const { config } = this.#context;
    const size = this.#plan.tasksPerStep * config.rollout.n;
    this.#recent.push({ ...episode, trajectories: [] });
    if (this.#recent.length > size) this.#recent.shift();
    if (this.#recent.length < size) return;
    checkFailures(this.#recent, config.trainer.maxFailedFraction, `the last ${size}`);
  }

  #end({ place, key, since, episodes }: BegunTask): void {
    const rollouts: TaskRollouts = { key, since, episodes };
    this.#context.batches.adaptive?.observe(rollouts);
    const reason = this.#whyDropped(rollouts);
    if (reason === null) {
      this.#buffer.finish(place, rollouts);
      return;
    }
    if (reason === "failed") this.#since.failed++;
    this.#since.dropped.push(...episodes);
    this.#buffer.drop(place);
  }

  #whyDropped(rollouts: TaskRollouts): "failed" | "useless" | null {
    const { config } = this.#context;
    if (!rollouts.episodes.some(isScored)) return "failed";
    const { enable, maxBatches } = config.rejectionSample;
    if (!enable) return null;
    const assessed = assessTask(config, rollouts);
    this.#since.counts.add(assessed);
    if (assessed.isUseful) return null;
    // Where there is little to learn, a step takes what there is, as the synchronous stepper does.
    if (this.#since.leftOut >= (maxBatches - 1) * this.#plan.tasksPerStep) return null;
    this.#since.leftOut++;
    return "useless";
  }
}
