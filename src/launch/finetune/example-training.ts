/** A run that learns from examples: its data, its price, and what it minimizes. */
import type { TrainConfig } from "../../config/train-config.ts";
import type { InferenceTarget, TrainingBackend } from "../../core/backend.ts";
import { type BatchPlan, createBatchPlan, stepsForEpochs } from "../../runs/batches.ts";
import type { RunState } from "../../runs/checkpoint.ts";
import { readMetricLines } from "../../runs/metric-lines.ts";
import { hashDataset, otherTasksError } from "../../runs/run-identity.ts";
import { fineTuningGoal } from "../../runs/validation-goal.ts";
import { formatTrainedTokens } from "../../trainer/budget/estimate.ts";
import { runPrices } from "../../trainer/budget/run-prices.ts";
import { createExampleStepper, type Objective } from "../../trainer/steppers/examples.ts";
import type { StartedRun, Training } from "../../trainer/training.ts";
import { checkFeedback, checkHeldOut, fineTuneWarnings } from "./check-fine-tuning.ts";
import { hashExamples, type LoadedExamples } from "./examples/load-examples.ts";
import { type Example, rowsOfExample } from "./examples/token-row.ts";
import { type RewardParts, startRewards } from "./measured-rewards.ts";
import { crossEntropy } from "./objectives/cross-entropy.ts";
import { preference, referenceOf } from "./objectives/preference.ts";
import { unpaired } from "./objectives/unpaired.ts";

/** Checkpoints of earlier versions leave the wait for a better validation to the run log. */
async function withPatience(state: RunState, folder: string): Promise<RunState> {
  const { best, patience } = state;
  if (patience !== undefined || best === null) return state;
  const lines = await readMetricLines(folder);
  const later = lines.filter(({ phase, step }) => phase === "validation" && step > best.step);
  return { ...state, patience: { value: best.value, waited: later.length } };
}

const tokensIn = (examples: readonly Example[]): number =>
  examples.flatMap(rowsOfExample).reduce((sum, { tokens }) => sum + tokens.length, 0);

/**
 * Tokens in all passes over rows. With DPO those of the policy and the update, and of the reference once;
 * with KTO also those of mismatched completions, under the policy and the reference.
 */
function tokensOf(
  { data, fineTuning }: TrainConfig,
  { train, val }: LoadedExamples,
  steps: number,
) {
  const batch = Math.min(data.trainBatchSize, train.length);
  const inUpdates = ((steps * batch) / train.length) * tokensIn(train);
  if (fineTuning.loss.type === "sft") return inUpdates;
  const perStep = fineTuning.loss.type === "kto" ? 4 : 2;
  return perStep * inUpdates + tokensIn([...train, ...val]);
}

/** What rewards are measured with: the model as it is served, and an agent with its tasks. */
export interface Measured {
  readonly target: InferenceTarget;
  readonly parts: RewardParts;
}

function valHashOf(val: readonly Example[], measured: Measured | null): string {
  const examples = hashExamples(val);
  return measured === null ? examples : `${examples}-${hashDataset(measured.parts.valTasks)}`;
}

/** On a backend that has started: it knows the tokens of the examples. */
export function exampleTraining(
  config: TrainConfig,
  backend: TrainingBackend,
  loaded: LoadedExamples,
  measured: Measured | null,
): Training {
  checkHeldOut(config, loaded);
  checkFeedback(config, loaded);
  const { train, val } = loaded;
  const { data, trainer } = config;
  const dataHash = hashExamples(train);
  const totalSteps =
    trainer.totalBatches > 0
      ? trainer.totalBatches
      : stepsForEpochs(train.length, data.trainBatchSize, trainer.totalEpochs);
  return {
    totalSteps,
    goal: fineTuningGoal(config),
    data: { dataHash, valHash: valHashOf(val, measured) },
    checkData(saved, { folder }) {
      if (saved.dataHash !== dataHash) throw otherTasksError(folder);
    },
    resumed: (state, _changes, folder) => withPatience(state, folder),
    warnings: [...fineTuneWarnings(config, loaded), ...(measured?.parts.warnings ?? [])],
    estimate: formatTrainedTokens(
      tokensOf(config, loaded, totalSteps),
      runPrices(config, backend.name),
    ),
    async train(run) {
      const { trainBatchSize: batchSize, seed } = data;
      const batches = createBatchPlan(train, { batchSize, seed });
      // The reference of DPO and KTO is the model as it was loaded: before a checkpoint replaces it.
      const objective = await objectiveOf(run, loaded, batches, totalSteps);
      await run.restore();
      await using rewards =
        measured === null ? null : await startRewards(run, measured.target, measured.parts);
      await using stepper = createExampleStepper(run, {
        ...{ objective, val, batches, rewards, steps: run.state.step },
      });
      return await run.loop(stepper);
    },
  };
}

async function objectiveOf(
  { config, backend, signal }: StartedRun,
  { train, val, maxLength }: LoadedExamples,
  plan: BatchPlan<Example>,
  steps: number,
): Promise<Objective<Example>> {
  const { loss } = config.fineTuning;
  const batchSize = config.data.trainBatchSize;
  if (loss.type === "sft") return crossEntropy(backend, batchSize, signal);
  if (loss.type === "kto") {
    const batches = Array.from({ length: steps }, (_, i) => plan.batch(i + 1));
    const options = { weights: loss, batches, batchSize, maxLength, signal };
    return await unpaired(backend, { ...options, train, val });
  }
  const reference = await referenceOf(backend, [...train, ...val], batchSize, signal);
  return preference(backend, { beta: loss.beta, reference, batchSize, signal });
}
