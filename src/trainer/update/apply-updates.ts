/**
 * The optimizer steps of one training step: mini-batches, epochs, and what is done when numbers are
 * not finite or exceed a limit. Does not publish weights.
 */
import type { UpdateMetrics } from "../../core/backend.ts";
import { type AgentTrainerError, NumericsError } from "../../core/errors.ts";
import type { TrainingRow } from "../../core/loss/training-row.ts";
import { exceededLimits, refusedLimits } from "../../core/loss/update-limits.ts";
import { deriveSeed } from "../../util/random.ts";
import { addTo } from "../../util/group-by.ts";
import { checkFinite, describeLimit, limitsBefore, limitExceededError } from "./guards.ts";
import type { LoopContext } from "../loop-context.ts";
import { planLoss } from "./loss-plan.ts";
import { miniBatches } from "./mini-batches.ts";
import type { UpdateBackend } from "./shared-forward.ts";
import type { UpdateGuard } from "../stepper.ts";
import { updateWithTrainerLoss } from "./trainer-loss.ts";
import { optimOf } from "./update-spec.ts";

export interface Updates {
  /** `train/...`: means over the updates; `train/updates`, `train/skipped_updates`. */
  readonly metrics: Readonly<Record<string, number>>;
  /** Whether any weight changed. */
  readonly hasChanged: boolean;
  /** Consecutive skipped updates, including those of earlier steps. */
  readonly skippedInARow: number;
  /** Ends the run after this step; null continues. */
  readonly stop: AgentTrainerError | null;
}

type UpdateContext = Omit<LoopContext, "backend"> & { readonly backend: UpdateBackend };

/** Totals; except for extremes, every other metric is a mean per token or per update. */
const summed = new Set(["tokens"]);

function combined(all: readonly UpdateMetrics[]): Record<string, number> {
  const values = new Map<string, number[]>();
  for (const metrics of all) {
    for (const [key, value] of Object.entries(metrics)) addTo(values, key, value);
  }
  return Object.fromEntries(
    [...values].map(([key, list]) => {
      if (key.endsWith("_max")) return [`train/${key}`, Math.max(...list)];
      if (key.endsWith("_min")) return [`train/${key}`, Math.min(...list)];
      const sum = list.reduce((total, value) => total + value, 0);
      return [`train/${key}`, summed.has(key) ? sum : sum / list.length];
    }),
  );
}

/**
 * Trains on `rows` as configured.
 * @throws NumericsError, or LIMIT_EXCEEDED before anything changed, where the options end the run.
 */
export async function applyUpdates(
  context: UpdateContext,
  step: number,
  rows: readonly TrainingRow[],
  guard: UpdateGuard,
  skippedBefore: number,
): Promise<Updates> {
  const { backend, gate, config, emit } = context;
  const { guards, training, trainer } = config;
  const { spec, byRole } = planLoss(config, backend.capabilities, context.losses);
  const optim = optimOf(context, step);
  const done: UpdateMetrics[] = [];
  let skipped = 0;
  let skippedInARow = skippedBefore;
  const parts = miniBatches(rows, {
    parts: training.numMinibatches,
    epochs: training.ppoEpochs,
    seed: deriveSeed(trainer.seed, "update", step),
  });
  const limits = limitsBefore(guards);
  let exceededLimit = false;
  let stop: AgentTrainerError | null = null;
  for (const part of parts) {
    guard.begin();
    let metrics: UpdateMetrics;
    try {
      // Does not get the signal: an update that has begun is finished, so the state stays
      // consistent.
      metrics = await gate.update(backend, () =>
        byRole === null
          ? backend.updatePolicy(part, spec, optim, undefined, limits)
          : updateWithTrainerLoss(backend, part, { spec, lossOfRole: byRole }, optim, limits),
      );
    } catch (error) {
      const refused = refusedLimits(error);
      if (refused !== null) {
        // The weights are those of the last completed step, or of the updates before this one.
        if (done.length === 0) guard.unchanged();
        stop = limitExceededError(refused, done.length === 0 ? "refused" : "refused-later");
        if (done.length === 0) throw stop;
        exceededLimit = true;
        break;
      }
      if (!(error instanceof NumericsError)) throw error;
      if (done.length === 0) guard.unchanged();
      const { onNonFinite } = guards;
      const mostSkipped = onNonFinite.type === "skip" ? onNonFinite.maxUpdates : 0;
      if (skippedInARow >= mostSkipped) throw error;
      skipped++;
      skippedInARow++;
      emit(step, { type: "warning", message: `An update was skipped: ${error.message}` });
      continue;
    }
    checkFinite(metrics);
    skippedInARow = 0;
    done.push(metrics);
    const exceeded = exceededLimits(metrics, guards);
    if (exceeded.length === 0) continue;
    exceededLimit = true;
    if (guards.action === "stop") {
      stop = limitExceededError(exceeded, "applied");
      break;
    }
    for (const limit of exceeded) emit(step, { type: "warning", message: describeLimit(limit) });
    if (guards.action === "end_step") break;
  }
  return {
    hasChanged: done.length > 0,
    skippedInARow,
    stop,
    metrics: {
      ...combined(done),
      "train/updates": done.length,
      "train/skipped_updates": skipped,
      "train/limit_exceeded": exceededLimit ? 1 : 0,
      "progress/lr": optim.learningRate,
    },
  };
}
