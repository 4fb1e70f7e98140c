/** Steps that learn from examples: a batch of them and one update. Knows no tokens and no loss. */
import type { UpdateMetrics } from "../../core/backend.ts";
import { NumericsError } from "../../core/errors.ts";
import type { LossSpec } from "../../core/loss/loss.ts";
import type { TrainingRow } from "../../core/loss/training-row.ts";
import { openGate } from "../../rollouts/service/weight-gate.ts";
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
interface PreparedBatch {
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

/** Validations by the rollouts of an agent. */
export interface MeasuredRewards {
  /** Serves the trained weights and resolves with their version. */
  publish(): Promise<number>;
  validate(step: number): Promise<Validation>;
}

export interface ExampleSteps<Example> {
  readonly objective: Objective<Example>;
  readonly batches: BatchPlan<Example>;
  /** Held out. */
  readonly val: readonly Example[];
  /** Where rewards are measured, too. */
  readonly rewards: MeasuredRewards | null;
  /** Steps completed so far. */
  readonly steps: number;
}

export function createExampleStepper<Example>(
  run: RunContext,
  { objective, batches, val, rewards, steps }: ExampleSteps<Example>,
): Stepper {
  let position: Snapshot["position"] = { next: steps, pending: [] };
  /** Of the weights that are served, where they are others than those of the state. */
  let published: number | null = null;
  let isBehind = false;

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
    isBehind ||= update.hasChanged;
    const weightVersion = published ?? state.weightVersion;
    return { state: { weightVersion, position, skippedUpdates }, stop, metrics };
  }

  async function measureLoss(): Promise<Validation["metrics"]> {
    if (val.length === 0) return {};
    const measured = await objective.measure(val);
    const { loss = NaN } = measured;
    if (!Number.isFinite(loss)) throw new NumericsError("val/loss", loss);
    const metrics = Object.entries(measured).map(([name, value]) => [`val/${name}`, value]);
    return Object.fromEntries(metrics) as Record<string, number>;
  }

  async function validate(step: number): Promise<Validation> {
    const losses = await measureLoss();
    if (rewards === null) return { metrics: losses, episodes: [] };
    if (isBehind) published = await rewards.publish();
    isBehind = false;
    const { metrics, episodes } = await rewards.validate(step);
    return { metrics: { ...losses, ...metrics }, episodes };
  }

  return {
    step: makeStep,
    validate: val.length === 0 && rewards === null ? null : validate,
    // The served weights are those of the last validation, if any were.
    snapshot: () => ({ rollouts: [], position, hasUnservedWeights: true }),
    [Symbol.asyncDispose]: async () => {},
  };
}
