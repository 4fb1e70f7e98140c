/** Steps that learn from examples: a batch of them and one update. Knows no tokens and no loss. */
import type { UpdateMetrics } from "../../core/backend.ts";
import { NumericsError } from "../../core/errors.ts";
import type { LossSpec } from "../../core/loss/loss.ts";
import type { TrainingRow } from "../../core/loss/training-row.ts";
import { openGate } from "../../rollouts/service/weight-gate.ts";
import { nothingBuffered } from "../../rollouts/task-rollouts.ts";
import type { BatchPlan } from "../../runs/batches.ts";
import type { RunContext } from "../run-context.ts";
import { applyUpdates } from "../update/apply-updates.ts";
import { limitsOf } from "../update/guards.ts";
import { record, startTimer } from "./record.ts";
import type {
  Snapshot,
  Stepper,
  StepResult,
  StepState,
  UpdateGuard,
  Validation,
} from "./stepper.ts";

/** A batch as backends train on it. */
export interface PreparedBatch {
  readonly rows: readonly TrainingRow[];
  /** Metrics without a prefix, `loss` and `tokens` among them, from those that the backend measured. */
  readonly report: (measured: UpdateMetrics) => UpdateMetrics;
}

/** What is minimized on a batch, and the same measured on examples that are held out. */
export interface Objective<Example> {
  readonly loss: LossSpec;
  prepare(batch: readonly Example[]): Promise<PreparedBatch>;
  /** The loss and what belongs to it on `examples`; weights do not change. */
  measure(examples: readonly Example[]): Promise<UpdateMetrics>;
}

export interface ExampleSteps<Example> {
  readonly objective: Objective<Example>;
  readonly batches: BatchPlan<Example>;
  /** Held out. */
  readonly val: readonly Example[];
  /** Steps completed so far. */
  readonly steps: number;
}

export function createExampleStepper<Example>(
  run: RunContext,
  { objective, batches, val, steps }: ExampleSteps<Example>,
): Stepper {
  let position: Snapshot["position"] = { next: steps, pending: [] };

  async function makeStep(step: number, state: StepState, guard: UpdateGuard): Promise<StepResult> {
    const timer = await startTimer(run.backend);
    const batch = batches.batch(step);
    run.emit(step, { type: "step-start", tasks: batch.length, rollouts: 0 });
    const { rows, report } = await objective.prepare(batch); // tokens, masks, weights of the loss
    const plan = {
      batches: [rows],
      loss: { spec: objective.loss, byRole: null },
      // There are no weights that sampled, from which these would have moved away.
      limits: { ...limitsOf(run.config.guards), kl: null, ratio: null },
    };
    // No call has to wait while weights change.
    const context = { ...run, gate: openGate };
    const update = await applyUpdates(context, step, plan, guard, state.skippedUpdates); // gradients, guards

    const done = update.done.map(report);
    position = { next: step, pending: [] };
    const metrics = await record(run, step, {
      timer,
      update: { ...update, done },
      epoch: batches.cursor(step - 1).epoch,
      throughput: [done.reduce((sum, { tokens = 0 }) => sum + tokens, 0), timer.seconds],
      counts: {},
    });
    const { skippedInARow: skippedUpdates, stop } = update;
    const { weightVersion } = state;
    return { state: { weightVersion, position, skippedUpdates }, stop, metrics };
  }

  async function validate(): Promise<Validation> {
    const measured = await objective.measure(val);
    const { loss = NaN } = measured;
    if (!Number.isFinite(loss)) throw new NumericsError("val/loss", loss);
    const metrics = Object.entries(measured).map(([name, value]) => [`val/${name}`, value]);
    return { metrics: Object.fromEntries(metrics) as Record<string, number>, episodes: [] };
  }

  return {
    step: makeStep,
    validate: val.length === 0 ? null : validate,
    // Nothing serves the weights while they are trained.
    snapshot: () => ({ rollouts: nothingBuffered, position, hasUnservedWeights: true }),
    [Symbol.asyncDispose]: async () => {},
  };
}
