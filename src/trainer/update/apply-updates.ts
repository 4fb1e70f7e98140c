/**
 * The optimizer steps of one training step, and what is done when numbers are not finite or exceed a
 * limit. Does not publish weights.
 */
import type { UpdateMetrics } from "../../core/backend.ts";
import { type AgentTrainerError, NumericsError } from "../../core/errors.ts";
import type { TrainingRow } from "../../core/loss/training-row.ts";
import { exceededLimits, refusedLimits, type UpdateLimits } from "../../core/loss/update-limits.ts";
import { groupBy } from "../../util/group-by.ts";
import { createRandom, deriveSeed, shuffled } from "../../util/random.ts";
import type { WeightGate } from "../../rollouts/service/weight-gate.ts";
import type { RunContext } from "../run-context.ts";
import type { UpdateGuard } from "../steppers/stepper.ts";
import { checkFinite, describeLimit, limitExceededError } from "./guards.ts";
import type { UpdateBackend } from "./shared-forward.ts";
import { updateWithTrainerLoss } from "./trainer-loss.ts";
import { type LossPlan, optimOf } from "./update-spec.ts";

export interface MiniBatchPlan {
  /** Mini-batches of each pass; never more than there are sequences. */
  readonly parts: number;
  /** Passes over the rows. */
  readonly epochs: number;
  readonly seed: number;
}

type Rows = readonly TrainingRow[];

/**
 * Every row once per pass, in mini-batches whose numbers of sequences differ by at most one; rows of one sequence
 * stay together. A single one keeps the order of the rows; several are reshuffled in each pass.
 */
export function miniBatches(rows: Rows, { parts, epochs, seed }: MiniBatchPlan): readonly Rows[] {
  const sequences = [...groupBy(rows, (row) => row.sequence ?? row).values()];
  const count = Math.min(parts, sequences.length);
  return Array.from({ length: epochs }, (_, epoch) => {
    if (count <= 1) return rows.length === 0 ? [] : [rows];
    const order = shuffled(sequences, createRandom(deriveSeed(seed, "mini-batches", epoch)));
    return Array.from({ length: count }, (_part, part) =>
      order
        .slice(
          Math.floor((part * order.length) / count),
          Math.floor(((part + 1) * order.length) / count),
        )
        .flat(),
    );
  }).flat();
}

export interface UpdatePlan {
  /** Each gets an optimizer step. */
  readonly batches: readonly Rows[];
  readonly loss: LossPlan;
  readonly limits: UpdateLimits;
}

export interface Updates {
  /** What the backend measured in each. */
  readonly done: readonly UpdateMetrics[];
  /** Whether any weight changed. */
  readonly hasChanged: boolean;
  readonly skipped: number;
  /** Consecutive skipped updates, including those of earlier steps. */
  readonly skippedInARow: number;
  readonly exceededLimit: boolean;
  readonly learningRate: number;
  /** Ends the run after this step; null continues. */
  readonly stop: AgentTrainerError | null;
}

interface UpdateContext extends Pick<RunContext, "config" | "emit" | "totalSteps"> {
  readonly backend: UpdateBackend;
  readonly gate: WeightGate;
}

/**
 * Trains on `batches`, one after the other.
 * @throws NumericsError, or LIMIT_EXCEEDED before anything changed, where the options end the run.
 */
export async function applyUpdates(
  run: UpdateContext,
  step: number,
  { batches, loss, limits }: UpdatePlan,
  guard: UpdateGuard,
  skippedBefore: number,
): Promise<Updates> {
  const { backend, gate, config, emit } = run;
  const { action, onNonFinite } = config.guards;
  const maxSkipped = onNonFinite.type === "skip" ? onNonFinite.maxUpdates : 0;
  const optim = optimOf(run, step);
  // Checked before an update is applied, if the backend can.
  const before = action === "stop" ? limits : undefined;
  const done: UpdateMetrics[] = [];
  let skipped = 0;
  let skippedInARow = skippedBefore;
  let exceededLimit = false;
  let stop: AgentTrainerError | null = null;
  for (const batch of batches) {
    guard.begin();
    let metrics: UpdateMetrics;
    try {
      // Does not get the signal: an update that has begun is finished, so the state stays
      // consistent.
      metrics = await gate.update(backend, () =>
        loss.byRole === null
          ? backend.updatePolicy(batch, loss.spec, optim, undefined, before)
          : updateWithTrainerLoss(
              backend,
              batch,
              { spec: loss.spec, lossOfRole: loss.byRole },
              optim,
              before,
            ),
      );
    } catch (error) {
      // The weights are those of the last completed step, or of the updates before this one.
      if (done.length === 0 && (refusedLimits(error) !== null || error instanceof NumericsError)) {
        guard.unchanged();
      }
      const refused = refusedLimits(error);
      if (refused !== null) {
        stop = limitExceededError(refused, done.length === 0 ? "refused" : "refused-later");
        if (done.length === 0) throw stop;
        exceededLimit = true;
        break;
      }
      if (!(error instanceof NumericsError)) throw error;
      if (skippedInARow >= maxSkipped) throw error;
      skipped++;
      skippedInARow++;
      emit(step, { type: "warning", message: `An update was skipped: ${error.message}` });
      continue;
    }
    checkFinite(metrics);
    skippedInARow = 0;
    done.push(metrics);
    const exceeded = exceededLimits(metrics, limits);
    if (exceeded.length === 0) continue;
    exceededLimit = true;
    if (action === "stop") {
      stop = limitExceededError(exceeded, "applied");
      break;
    }
    for (const limit of exceeded) emit(step, { type: "warning", message: describeLimit(limit) });
    if (action === "end_step") break;
  }
  const { learningRate } = optim;
  const hasChanged = done.length > 0;
  return { done, hasChanged, skipped, skippedInARow, exceededLimit, learningRate, stop };
}
