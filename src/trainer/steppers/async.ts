/**
 * Asynchronous steps: training overlaps with rollouts. A step takes what is ready, oldest first;
 * weights are synced every few steps, and no row is trained on that is staler than the plan allows.
 */
import { AgentTrainerError } from "../../core/errors.ts";
import type { TrainingRow } from "../../core/loss/training-row.ts";
import { episodesOf } from "../../rollouts/task-rollouts.ts";
import { Generator } from "../async/generator.ts";
import { RolloutBuffer } from "../async/rollout-buffer.ts";
import { stalenessBound, type StalenessPlan } from "../async/staleness.ts";
import type { RolloutContext } from "../run-context.ts";
import { defined } from "../../util/defined.ts";
import { createLearner } from "../update/learn.ts";
import { validate } from "./measure.ts";
import { recordRollouts, startTimer } from "./record.ts";
import type { Snapshot, Stepper, StepResult, StepState, UpdateGuard } from "./stepper.ts";

function planOf({ config, batches, totalSteps }: RolloutContext): StalenessPlan {
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
      (max, { kind, weightVersion }) =>
        kind === "response" ? Math.max(max, behind(weightVersion)) : max,
      0,
    ),
  );
}

/** @throws AgentTrainerError INTERNAL: the plan makes it impossible. */
function checkStaleness(staleness: readonly number[], bound: number): void {
  const max = Math.max(0, ...staleness);
  if (max <= bound) return;
  throw new AgentTrainerError({
    code: "INTERNAL",
    message: `A row is ${max} versions old, though async_training.staleness_threshold allows ${bound}.`,
    hint: "Please report this, with events.jsonl of the run.",
    fields: { staleness: max, bound },
  });
}

export interface StepsBefore {
  /** Steps completed so far. */
  readonly steps: number;
  readonly resumeVersions: readonly number[];
}

/** Resumes after `steps` steps with the rollouts of a checkpoint. Rollouts begin with the first step. */
export function createAsyncStepper(
  run: RolloutContext,
  before: Snapshot,
  { steps, resumeVersions }: StepsBefore,
): Stepper {
  const { backend, gate, config, emit, journal, signal } = run;
  const plan = planOf(run);
  const { tasksPerStep: tasks } = plan;
  const bound = stalenessBound(plan);
  const learn = createLearner(run);
  const buffer = new RolloutBuffer(plan, before.rollouts, steps);
  const generator = new Generator(run, plan, buffer, before.position);
  /** Whether weights were trained that are not served yet. */
  let isBehind = before.hasUnservedWeights;

  async function syncWeights(version: number): Promise<number> {
    if (!isBehind) return version;
    const { partialRollout } = config.asyncTraining;
    if (!partialRollout) {
      generator.pause();
      await generator.idle();
    }
    try {
      const served = await gate.publish(backend);
      isBehind = false;
      return served;
    } finally {
      if (!partialRollout) generator.resume();
    }
  }

  async function makeStep(step: number, state: StepState, guard: UpdateGuard): Promise<StepResult> {
    const timer = await startTimer(backend);
    const { n } = config.rollout;
    const ready = Math.min(tasks, buffer.ready.length) * n;
    emit(step, { type: "step-start", tasks, rollouts: tasks * n, ready });
    generator.advance(step);
    const rollouts = await buffer.take(step, signal); // the oldest that are ready
    const waitS = timer.lap("wait");
    const groups = await learn.score(step, rollouts); // one reward per trajectory
    const rows = await learn.rows(step, groups); // advantages, merged turns, masks
    const staleness = stalenessOf(rows.rows, state.weightVersion, resumeVersions);
    checkStaleness(staleness, bound);
    const update = await learn.update(step, rows, guard, state.skippedUpdates); // gradients, guards
    isBehind ||= update.hasChanged;
    timer.lap("update");
    const isDue = step % plan.every === 0 || step === plan.totalSteps;
    const weightVersion = isDue ? await syncWeights(state.weightVersion) : state.weightVersion;
    timer.lap("weight_sync");

    buffer.use(rollouts);
    const generated = generator.report();
    // Also what was dropped: the metrics of rollouts are those of the policy, whatever is trained on.
    const episodes = [...episodesOf(rollouts), ...generated.dropped];
    journal.episodes(step, "train", episodes);
    const { position } = generator;
    const { seconds } = timer;
    const metrics = await recordRollouts(run, step, {
      ...{ timer, groups, rows, update, weightVersion, episodes },
      batches: Math.floor(position.next / tasks),
      throughput: [generated.tokens, seconds],
      counts: {
        ...generated.metrics,
        "async/staleness_max": Math.max(0, ...staleness),
        "async/staleness_mean":
          staleness.reduce((sum, value) => sum + value, 0) / Math.max(1, staleness.length),
        "time/wait_fraction": seconds > 0 ? waitS / seconds : 0,
      },
    });
    const { skippedInARow: skippedUpdates, stop } = update;
    return { state: { weightVersion, position, skippedUpdates }, stop, metrics };
  }

  async function validatePaused(step: number): ReturnType<typeof validate> {
    generator.pause();
    try {
      return await validate(run, step);
    } finally {
      generator.resume();
    }
  }

  return {
    step: makeStep,
    validate: run.valTasks.length === 0 ? null : validatePaused,
    snapshot: () => ({
      rollouts: buffer.ready,
      position: generator.position,
      hasUnservedWeights: isBehind,
      ...defined({ curriculum: run.batches.adaptive?.snapshot(generator.batches) }),
    }),
    [Symbol.asyncDispose]: () => generator[Symbol.asyncDispose](),
  };
}
