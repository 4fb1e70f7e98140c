/**
 * Asynchronous steps: training overlaps with rollouts. A step takes what is ready, oldest first;
 * weights are synced every few steps, and no row is trained on that is staler than the plan allows.
 */
import { AgentTrainerError } from "../../core/errors.ts";
import type { TrainingRow } from "../../core/loss/training-row.ts";
import { trainEpisodeMetrics } from "../../runs/episode-metrics.ts";
import type { LoopContext } from "../loop-context.ts";
import { episodesOf } from "../../rollouts/task-rollouts.ts";
import { secondsSince, stepMetrics } from "../step-metrics.ts";
import type { Buffered, Stepper, StepResult, StepState, UpdateGuard } from "../stepper.ts";
import { trainOnRollouts } from "../update/train-on-rollouts.ts";
import { Generator } from "./generator.ts";
import { RolloutBuffer } from "./rollout-buffer.ts";
import { stalenessBound, type StalenessPlan } from "./staleness.ts";

function planOf({ config, batches, totalSteps }: LoopContext): StalenessPlan {
  const { triggerParameterSyncStep: every, stalenessThreshold: threshold } = config.asyncTraining;
  return { tasksPerStep: batches.batchSize, every, threshold, totalSteps };
}

/**
 * Staleness of each row: the number of weight syncs since its oldest trained token was sampled.
 * Versions introduced by a resume do not count: they serve between two syncs what was trained there,
 * and make nothing staler.
 */
function stalenessOf(
  rows: readonly TrainingRow[],
  version: number,
  resumeVersions: readonly number[],
): number[] {
  const behind = (sampledBy: number): number =>
    version -
    sampledBy -
    resumeVersions.filter((resumed) => resumed > sampledBy && resumed <= version).length;
  return rows.map(({ segments }) =>
    segments.reduce(
      (most, { kind, weightVersion }) =>
        kind === "response" ? Math.max(most, behind(weightVersion)) : most,
      0,
    ),
  );
}

function tooStale(staleness: number, bound: number): AgentTrainerError {
  return new AgentTrainerError({
    code: "INTERNAL",
    message: `A row is ${staleness} versions old, though async_training.staleness_threshold allows ${bound}.`,
    hint: "Please report this, with events.jsonl of the run.",
    fields: { staleness, bound },
  });
}

export interface StepsBefore {
  /** Steps completed so far. */
  readonly steps: number;
  readonly resumeVersions: readonly number[];
}

/** Resumes after `steps` steps with the rollouts of a checkpoint. Rollouts begin with the first step. */
export function createAsyncStepper(
  context: LoopContext,
  before: Buffered,
  { steps, resumeVersions }: StepsBefore,
): Stepper {
  const { backend, gate, config, emit, journal, signal } = context;
  const plan = planOf(context);
  const bound = stalenessBound(plan);
  const buffer = new RolloutBuffer(plan, before.rollouts.waiting, steps);
  const generator = new Generator(context, plan, buffer, before.position);
  /** Whether weights were trained that are not served yet. */
  let isBehind = before.hasUnservedWeights;

  async function syncWeights(version: number): Promise<number> {
    if (!isBehind) return version;
    const { partialRollout } = config.asyncTraining;
    if (!partialRollout) {
      generator.hold();
      await generator.idle();
    }
    try {
      const served = await gate.publish(backend);
      isBehind = false;
      return served;
    } finally {
      if (!partialRollout) generator.release();
    }
  }

  async function step(number: number, state: StepState, guard: UpdateGuard): Promise<StepResult> {
    await backend.metrics?.();
    const start = performance.now();
    const { n } = config.rollout;
    const tasks = plan.tasksPerStep;
    const ready = Math.min(tasks, buffer.ready.length) * n;
    emit(number, { type: "step-start", tasks, rollouts: tasks * n, ready });
    generator.advance(number);
    const sets = await buffer.take(number, signal);
    const waitS = secondsSince(start);
    const { skippedUpdates } = state;
    let staleness: number[] = [];
    const updateStart = performance.now();
    const trained = await trainOnRollouts(context, number, sets, {
      guard,
      skippedUpdates,
      check: (rows) => {
        staleness = stalenessOf(rows, state.weightVersion, resumeVersions);
        const most = Math.max(0, ...staleness);
        if (most > bound) throw tooStale(most, bound);
      },
    });
    isBehind ||= trained.hasChanged;
    const updateS = secondsSince(updateStart);
    const isDue = number % plan.every === 0 || number === plan.totalSteps;
    const syncStart = performance.now();
    const weightVersion = isDue ? await syncWeights(state.weightVersion) : state.weightVersion;
    const syncS = secondsSince(syncStart);
    buffer.use(sets);
    const generated = generator.report();
    // Also what was dropped: the metrics of rollouts are those of the policy, whatever is trained on.
    const episodes = [...episodesOf(sets), ...generated.dropped];
    journal.episodes(number, "train", episodes);
    const wallS = secondsSince(start);
    const { position } = generator;
    const batches = Math.floor(position.next / tasks);
    return {
      state: { weightVersion, position, skippedUpdates: trained.skippedInARow },
      stop: trained.stop,
      metrics: {
        ...trainEpisodeMetrics(episodes),
        ...trained.metrics,
        ...generated.metrics,
        "async/staleness_max": Math.max(0, ...staleness),
        "async/staleness_mean":
          staleness.reduce((sum, value) => sum + value, 0) / Math.max(1, staleness.length),
        ...(await stepMetrics(context, { step: number, batches, wallS })),
        "time/wait_s": waitS,
        "time/update_s": updateS,
        "time/weight_sync_s": syncS,
        "time/wait_fraction": wallS > 0 ? waitS / wallS : 0,
        "tokens/per_s": wallS > 0 ? generated.tokens / wallS : 0,
        weight_version: weightVersion,
      },
    };
  }

  return {
    step,
    async validating(validation) {
      generator.hold();
      try {
        return await validation();
      } finally {
        generator.release();
      }
    },
    held: () => ({
      rollouts: { ...before.rollouts, waiting: buffer.ready },
      position: generator.position,
      hasUnservedWeights: isBehind,
    }),
    [Symbol.asyncDispose]: () => generator[Symbol.asyncDispose](),
  };
}
