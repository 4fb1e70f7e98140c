/** From the rollouts of a step to changed weights: one reward per trajectory, rows, updates. */
import type { RowsOptions } from "../../algorithms/rows/rows.ts";
import type { TrainingRow } from "../../core/loss/training-row.ts";
import { deriveSeed } from "../../util/random.ts";
import type { RolloutContext } from "../run-context.ts";
import type { TaskRollouts } from "../../rollouts/task-rollouts.ts";
import type { TrajectoryGroup } from "../../core/trajectory.ts";
import type { UpdateGuard } from "../steppers/stepper.ts";
import { applyUpdates, miniBatches, type Updates } from "./apply-updates.ts";
import { correctRows } from "./correct-rows.ts";
import { criticOf, estimateWithCritic } from "./critic.ts";
import { distillRows } from "./distillation.ts";
import { groupsOf, rowsOf } from "./episode-rows.ts";
import { limitsOf } from "./guards.ts";
import { observeRows } from "./observe-rows.ts";
import { teachItself } from "./self-teacher.ts";
import { type Score, shapeByKl, type StepGroups } from "./shape-rewards.ts";
import {
  KnownLogprobs,
  type UpdateBackend,
  withKnownForward,
  withSharedForward,
} from "./shared-forward.ts";
import { recordTokens } from "./token-records.ts";
import { logprobTemperatureOf, planLoss, withCritic } from "./update-spec.ts";
import { warnOfFailures, warnOfRoles, warnOfRows } from "./warnings.ts";

/** Groups of trajectories with the rewards that are trained on. */
export interface ScoredGroups extends StepGroups {
  readonly rollouts: readonly TaskRollouts[];
  readonly options: RowsOptions;
}

/** What a step trains on, and what was counted on the way. */
export interface StepRows {
  readonly rows: readonly TrainingRow[];
  readonly metrics: Readonly<Record<string, number>>;
}

/** The three stages of learning, to be called in this order. Weights change in the last one. */
export interface Learner {
  /** Groups by task and role, shaped by penalties: length, and KL to the reference. */
  score(step: number, rollouts: readonly TaskRollouts[]): Promise<ScoredGroups>;
  /** Advantages, turns merged into rows, corrections of what was sampled from other weights. */
  rows(step: number, groups: ScoredGroups): Promise<StepRows>;
  /** @param skippedBefore consecutive skipped updates before this step */
  update(step: number, rows: StepRows, guard: UpdateGuard, skippedBefore: number): Promise<Updates>;
}

export function createLearner(run: RolloutContext): Learner {
  const { config, signal, teacher } = run;
  const known = new KnownLogprobs();
  const backend: UpdateBackend = withSharedForward(run.backend, known);
  let haveRolesBeenSeen = false;

  // Options that need it were refused at the start where there is none.
  const logprobs: Score = async (rows, which) =>
    (await backend.forward?.(rows, which, signal)) ??
    rows.map(({ samplingLogprobs }) => samplingLogprobs);
  // Rows with hints are no rows of the update, which need not be remembered.
  const logprobsOf: Score = async (rows, which) => await run.backend.forward!(rows, which, signal);

  const distilledRows = async (
    rows: readonly TrainingRow[],
    groups: readonly TrajectoryGroup[],
  ): Promise<StepRows> => {
    const { coef, discount, clip, useReward, divergence } = config.distillation;
    const shape = { coef, discount, clip, useReward, divergence };
    if (config.distillation.teacher !== "self")
      return teacher === undefined
        ? { rows, metrics: {} }
        : await distillRows(rows, teacher, shape, signal);
    const { renderer, contextLength, hint } = run;
    const options = { renderer, contextLength, hint, score: logprobsOf };
    const taught = await teachItself(rows, groups, options);
    const self = { name: "self", logprobs: async () => taught.logprobs };
    const distilled = await distillRows(rows, self, shape, signal);
    return { ...distilled, metrics: { ...distilled.metrics, ...taught.metrics } };
  };

  return {
    async score(step, rollouts) {
      known.clear();
      warnOfFailures(run, step, rollouts);
      const options: RowsOptions = {
        logprobTemperature: logprobTemperatureOf(config, backend.capabilities),
        ...(config.algorithm.useKlInReward ? { layouts: new Map() } : {}),
      };
      const shaped = await shapeByKl(config, groupsOf(config, rollouts), logprobs, options);
      if (!haveRolesBeenSeen) warnOfRoles(run, step, shaped.groups);
      haveRolesBeenSeen ||= shaped.groups.length > 0;
      return { ...shaped, rollouts, options };
    },

    async rows(step, { rollouts, options, ...groups }) {
      const built = rowsOf(config, groups, run.estimators, options);
      const estimated = await estimateWithCritic(
        config,
        { rows: built.rows, groups: built.estimated, penalties: groups.tokenPenalties },
        async (rows) => await backend.values!(rows, signal),
      );
      const corrected = await correctRows(
        estimated.rows,
        (rows) => logprobs(rows, "current"),
        config.algorithm.rolloutCorrection,
      );
      const distilled = await distilledRows(corrected.rows, groups.groups);
      const { uniform } = built;
      const observed = observeRows(config, run.renderer, distilled.rows, {
        ...{ groups: groups.groups, uniform, options },
      });
      const metrics = {
        ...{ ...built.metrics, ...estimated.metrics, ...corrected.metrics },
        ...{ ...distilled.metrics, ...observed.metrics },
        ...(criticOf(config, backend.capabilities, step)?.isWarmup === true
          ? { "train/critic_warmup": 1 }
          : {}),
      };
      warnOfRows(run, step, { rollouts, built: built.rows, metrics });
      return { rows: observed.rows, metrics };
    },

    async update(step, { rows }, guard, skippedBefore) {
      const { numMinibatches, ppoEpochs } = config.training;
      const critic = criticOf(config, backend.capabilities, step);
      await recordTokens({ ...run, backend: withKnownForward(run.backend, known) }, step, rows);
      return await applyUpdates(
        { ...run, backend },
        step,
        {
          batches: miniBatches(rows, {
            parts: numMinibatches,
            epochs: ppoEpochs,
            seed: deriveSeed(config.trainer.seed, "update", step),
          }),
          loss: withCritic(planLoss(config, backend.capabilities, run.losses), critic),
          limits: limitsOf(config.guards),
        },
        guard,
        skippedBefore,
      );
    },
  };
}
