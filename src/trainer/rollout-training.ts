/** A run that learns from the rollouts of an agent: what it starts for its steps, besides the backend. */
import type { CustomEstimators } from "../algorithms/catalog.ts";
import { batchSizeOf } from "../config/batch-size.ts";
import { startWarnings } from "../config/checks/start-warnings.ts";
import { validationNotices } from "../config/checks/switches.ts";
import { modelSpecOf } from "../config/model-spec.ts";
import type { TrainConfig } from "../config/train-config.ts";
import type { GroupEvaluator } from "../core/agent.ts";
import type { TrainingBackend } from "../core/backend.ts";
import type { Dataset, Task } from "../core/task.ts";
import type { Teacher } from "../core/teacher.ts";
import type { Rollouts } from "../rollouts/service/agent-spec.ts";
import { createRolloutService } from "../rollouts/service/gateway-service.ts";
import { stepsForEpochs } from "../runs/batches.ts";
import type { TaskOrder } from "../runs/checkpoint.ts";
import { planBatches } from "../runs/mixture-plan.ts";
import { ExchangeLog } from "../runs/exchange-log.ts";
import { resumedState, tasksBegun } from "../runs/resumed-state.ts";
import { hashDataset } from "../runs/run-identity.ts";
import { checkTasks, orderOf, ordersAfter } from "../runs/task-orders.ts";
import { rewardGoal } from "../runs/validation-goal.ts";
import { defined } from "../util/defined.ts";
import { estimateRun, formatEstimate } from "./budget/estimate.ts";
import { meteredService } from "./budget/metered.ts";
import { checkCapabilities } from "./check-capabilities.ts";
import { checkGroupEvaluator, checkValidation } from "./check-scoring.ts";
import type { CustomLosses } from "./custom-algorithms.ts";
import type { RolloutContext } from "./run-context.ts";
import { createAsyncStepper } from "./steppers/async.ts";
import type { Stepper } from "./steppers/stepper.ts";
import { createSyncStepper } from "./steppers/sync.ts";
import type { StartedRun, Training } from "./training.ts";
import type { Hint } from "./update/self-teacher.ts";
import { temperatureWarnings } from "./update/warnings.ts";

export interface RolloutTraining {
  readonly config: TrainConfig;
  readonly backend: TrainingBackend;
  readonly rollouts: Rollouts;
  readonly trainTasks: Dataset;
  readonly valTasks: readonly Task[];
  readonly estimators: CustomEstimators;
  readonly losses: CustomLosses;
  readonly groupEvaluator?: GroupEvaluator;
  /** Not started yet; the caller disposes of it. */
  readonly teacher?: Teacher;
  /** Of the policy as its own teacher. */
  readonly hint?: Hint;
  /** Warnings about options without an effect. */
  readonly warnings: readonly string[];
}

function totalStepsOf({ config, trainTasks }: RolloutTraining): number {
  const { totalBatches, totalEpochs } = config.trainer;
  return totalBatches > 0
    ? totalBatches
    : stepsForEpochs(trainTasks.length, batchSizeOf(config), totalEpochs);
}

/** What is expected to be paid, where something is. */
function estimateOf({ config, backend }: RolloutTraining, steps: number): string | null {
  const { name, capabilities } = backend;
  const estimate = estimateRun(config, { backend: name, steps, capabilities });
  return estimate.usd === null ? null : formatEstimate(estimate);
}

/** @throws ConfigError for what cannot be scored or validated. */
export function rolloutTraining(given: RolloutTraining): Training {
  const { config, backend, trainTasks, valTasks } = given;
  checkValidation(config, valTasks);
  checkGroupEvaluator(given);
  const totalSteps = totalStepsOf(given);
  const order = orderOf(config, trainTasks);
  return {
    totalSteps,
    goal: rewardGoal(config),
    data: {
      dataHash: hashDataset(trainTasks),
      valHash: hashDataset(valTasks),
      orders: [order],
    },
    checkData: (saved, run) => checkTasks(saved, config, trainTasks, run),
    resumed(before, changes) {
      const state = resumedState(before, config, changes, trainTasks.length);
      const begun = tasksBegun(state, config, trainTasks.length);
      return { ...state, orders: ordersAfter(state, config, changes, { now: order, begun }) };
    },
    warnings: [
      ...given.warnings,
      ...startWarnings(config, trainTasks.length, totalSteps),
      ...temperatureWarnings(config, backend),
      ...(valTasks.length === 0 ? validationNotices(config) : []),
    ],
    estimate: estimateOf(given, totalSteps),
    train: (run) => train(given, run),
  };
}

/** Starts the model, the teacher, and the gateway with the runner of rollouts. */
async function train(given: RolloutTraining, run: StartedRun): ReturnType<StartedRun["loop"]> {
  const { config, backend, budget, directory, signal, state } = run;
  const { groupEvaluator, teacher, hint } = given;
  const target = await backend.start({
    seed: config.trainer.seed,
    model: modelSpecOf(config.model),
    signal,
    runDir: directory.path,
  });
  // Some backends know what they support only after a request to their server.
  checkCapabilities(config, backend);
  await run.restore();
  await teacher?.start(target.renderer ?? null, signal);
  const { contextLength } = target.kind === "sampler" ? target.sampler : target;
  await using exchanges = new ExchangeLog({
    run: directory.path,
    kilobytes: config.record.httpBodyKb,
    compression: config.record.compression,
    checkpoint: directory.checkpoint?.state.step ?? -1,
    warn: run.warn,
  });
  await using service = await createRolloutService({
    ...meteredService(target, budget),
    rollouts: given.rollouts,
    config,
    weightVersion: state.weightVersion,
    isScoredLater: groupEvaluator !== undefined,
    ...defined({ exchanges: exchanges.listener }),
  });
  const context = {
    ...run,
    gate: service.gate,
    rollouts: service.run,
    batches: planBatches(
      given.trainTasks,
      batchSizeOf(config),
      state.orders as readonly TaskOrder[],
      config.data,
      state.curriculum,
    ),
    valTasks: given.valTasks,
    estimators: given.estimators,
    losses: given.losses,
    ...defined({ groupEvaluator, teacher, hint, renderer: target.renderer, contextLength }),
  };
  await using stepper = stepperOf(context, run);
  return await run.loop(stepper, (step) => (exchanges.checkpoint = step));
}

function stepperOf(context: RolloutContext, { directory, state }: StartedRun): Stepper {
  const { step: steps, position, hasUnservedWeights, resumeVersions, curriculum } = state;
  const rollouts = directory.checkpoint?.rollouts ?? [];
  const before = { rollouts, position, hasUnservedWeights, ...defined({ curriculum }) };
  return context.config.asyncTraining.enable
    ? createAsyncStepper(context, before, { steps, resumeVersions })
    : createSyncStepper(context, before);
}
