/**
 * Synchronous steps: rollouts end before their update begins. Every token is sampled from the weights
 * that it trains, unless rejection sampling left it from the step before.
 */
import { sampledTokens } from "../../runs/episode-metrics.ts";
import type { RolloutContext } from "../run-context.ts";
import { collect } from "../rollouts/collect.ts";
import { defined } from "../../util/defined.ts";
import { createLearner } from "../update/learn.ts";
import { validate } from "./measure.ts";
import { recordRollouts, startTimer } from "./record.ts";
import type { Snapshot, Stepper, StepResult, StepState, UpdateGuard } from "./stepper.ts";

/** Resumes with the rollouts of a checkpoint. */
export function createSyncStepper(run: RolloutContext, before: Snapshot): Stepper {
  const { backend, gate } = run;
  const learn = createLearner(run);
  let { rollouts: waiting, position, curriculum } = before;
  const { adaptive } = run.batches;

  async function makeStep(step: number, state: StepState, guard: UpdateGuard): Promise<StepResult> {
    const timer = await startTimer(backend);
    const collected = await collect(run, step, state.position.next, waiting); // n attempts at each task
    const rolloutS = timer.lap("rollout");
    const groups = await learn.score(step, collected.rollouts); // one reward per trajectory
    const rows = await learn.rows(step, groups); // advantages, merged turns, masks
    const update = await learn.update(step, rows, guard, state.skippedUpdates); // gradients, guards
    const weightVersion = update.hasChanged ? await gate.publish(backend) : state.weightVersion;
    timer.lap("update");

    // For the next step, and for a checkpoint.
    const { episodes, batches } = collected;
    waiting = collected.waiting;
    position = { next: batches, pending: [] };
    curriculum = adaptive?.snapshot([]);

    const counts = { ...collected.metrics, ...adaptive?.metrics() };
    const metrics = await recordRollouts(run, step, {
      ...{ timer, groups, rows, update, weightVersion, counts, episodes, batches },
      throughput: [sampledTokens(episodes), rolloutS],
    });
    const { skippedInARow: skippedUpdates, stop } = update;
    return { state: { weightVersion, position, skippedUpdates }, stop, metrics };
  }

  return {
    step: makeStep,
    validate: run.valTasks.length === 0 ? null : (after) => validate(run, after),
    // Weights that have changed are served at the end of their step.
    snapshot: () => ({
      rollouts: waiting,
      position,
      hasUnservedWeights: false,
      ...defined({ curriculum }),
    }),
    [Symbol.asyncDispose]: async () => {},
  };
}
