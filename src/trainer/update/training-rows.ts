/**
 * From the episodes of a step to the rows of its update, including everything that needs the weights
 * being trained.
 */
import type { RowsOptions } from "../../algorithms/rows/rows.ts";
import type { TrainingRow } from "../../core/loss/training-row.ts";
import { nearestName } from "../../util/nearest-name.ts";
import type { TrainConfig } from "../../config/train-config.ts";
import { correctRows } from "./correct-rows.ts";
import { distillRows } from "./distillation.ts";
import { groupsOf, rowsOf } from "./episode-rows.ts";
import { lackWarning, logprobTemperatureOf } from "./logprob-temperature.ts";
import type { LoopContext } from "../loop-context.ts";
import type { TaskRollouts } from "../../rollouts/task-rollouts.ts";
import { type Score, shapeByKl, type StepGroups } from "./shape-rewards.ts";
import type { UpdateBackend } from "./shared-forward.ts";

export interface TrainingRows {
  readonly rows: readonly TrainingRow[];
  readonly metrics: Readonly<Record<string, number>>;
}

type RowsContext = Pick<LoopContext, "config" | "signal" | "estimators" | "emit" | "teacher"> & {
  readonly backend: UpdateBackend;
};

/** Runs that have been warned. */
const warned = new WeakSet<TrainConfig>();
const warnedOfLacks = new WeakSet<TrainConfig>();

function warnOfLacks(
  { config, backend, emit }: RowsContext,
  step: number,
  rows: readonly TrainingRow[],
): void {
  if (warnedOfLacks.has(config)) return;
  const message = lackWarning(rows, config, backend.capabilities);
  if (message === null) return;
  warnedOfLacks.add(config);
  emit(step, { type: "warning", message });
}

/** A role that no rollout has is probably misspelled. */
function warnOfRoles({ config, emit }: RowsContext, step: number, { groups }: StepGroups): void {
  if (groups.length === 0 || warned.has(config)) return;
  warned.add(config);
  const roles = [...new Set(groups.map(({ name }) => name))];
  const { estimatorByRole, lossByRole } = config.algorithm;
  for (const [option, map] of [
    ["estimator_by_role", estimatorByRole],
    ["loss_by_role", lossByRole],
  ] as const) {
    for (const { role } of map) {
      if (roles.includes(role)) continue;
      const nearest = nearestName(role, roles);
      const guess = nearest === undefined ? "" : ` Is it ${nearest}?`;
      emit(step, {
        type: "warning",
        message: `algorithm.${option} names the role ${role}, but step ${step} had ${roles.join(", ")} only.${guess}`,
      });
    }
  }
}

/** Requests log-probabilities from the backend where an option needs them; weights do not change. */
export async function trainingRows(
  context: RowsContext,
  step: number,
  sets: readonly TaskRollouts[],
): Promise<TrainingRows> {
  const { config, backend, signal, estimators } = context;
  // Options that need it were refused at the start where there is none.
  const score: Score = async (rows, which) =>
    (await backend.forward?.(rows, which, signal)) ??
    rows.map(({ samplingLogprobs }) => samplingLogprobs);
  const options: RowsOptions = {
    logprobTemperature: logprobTemperatureOf(config, backend.capabilities),
    ...(config.algorithm.useKlInReward ? { layouts: new Map() } : {}),
  };
  const grouped = await shapeByKl(config, groupsOf(config, sets), score, options);
  warnOfRoles(context, step, grouped);
  const built = rowsOf(config, grouped, estimators, options);
  warnOfLacks(context, step, built.rows);
  const corrected = await correctRows(
    built.rows,
    (rows) => score(rows, "current"),
    config.algorithm.rolloutCorrection,
  );
  const metrics = { ...built.metrics, ...corrected.metrics };
  if (context.teacher === undefined) return { rows: corrected.rows, metrics };
  const { coef, discount, clip, useReward } = config.distillation;
  const shape = { coef, discount, clip, useReward };
  const distilled = await distillRows(corrected.rows, context.teacher, shape, signal);
  return { rows: distilled.rows, metrics: { ...metrics, ...distilled.metrics } };
}
