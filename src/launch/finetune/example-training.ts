/** A run that learns from examples: what is checked, what it warns of, and what it minimizes. */
import type { TrainConfig } from "../../config/train-config.ts";
import type { InferenceTarget, TrainingBackend } from "../../core/backend.ts";
import { backendsThat } from "../../core/capabilities.ts";
import { ConfigError, UnsupportedOptionError } from "../../core/errors.ts";
import type { Renderer } from "../../core/policy.ts";
import { warningsOf } from "../../config/load.ts";
import { createBatchPlan, stepsForEpochs } from "../../runs/batches.ts";
import type { RunState } from "../../runs/checkpoint.ts";
import { readMetricLines } from "../../runs/metric-lines.ts";
import { otherTasksError } from "../../runs/run-identity.ts";
import { lossGoal } from "../../runs/validation-goal.ts";
import { formatTrainedTokens } from "../../trainer/budget/estimate.ts";
import { runPrices } from "../../trainer/budget/run-prices.ts";
import { checkCapabilities } from "../../trainer/check-capabilities.ts";
import { createExampleStepper, type Objective } from "../../trainer/steppers/examples.ts";
import type { StartedRun, Training } from "../../trainer/training.ts";
import { hashExamples, type LoadedExamples } from "./examples/load-examples.ts";
import { type Example, rowsOfExample } from "./examples/token-row.ts";
import { crossEntropy } from "./objectives/cross-entropy.ts";
import { preference, referenceOf } from "./objectives/preference.ts";
import { isRead, unreadWarning } from "./unread-options.ts";

/** What rendering examples needs of a backend that has started. */
export interface TargetFacts {
  readonly renderer: Renderer;
  readonly contextLength: number;
}

/** @throws ConfigError for inference servers whose chat template is not known here. */
export function factsOf(target: InferenceTarget, backend: string): TargetFacts {
  if (target.kind === "sampler") {
    const { renderer, sampler } = target;
    return { renderer, contextLength: sampler.contextLength };
  }
  const { renderer, contextLength = Infinity } = target;
  if (renderer !== undefined) return { renderer, contextLength };
  throw new ConfigError({
    message: `The backend ${JSON.stringify(backend)} has no tokenizer of the model, which fine-tuning needs to render conversations.`,
    hint: "Use a model whose tokenizer.json the backend can read.",
    fields: { backend },
  });
}

/** @throws UnsupportedOptionError for a backend that has not what the loss or the validation needs. */
export function checkFineTuning(config: TrainConfig, backend: TrainingBackend): void {
  checkCapabilities(config, backend, isRead);
  const { loss, val, valFraction } = config.fineTuning;
  const needed = loss.type === "sft" ? "cross_entropy" : "importance_sampling";
  const refuse = (option: string, value: unknown, others: readonly string[]): never => {
    throw new UnsupportedOptionError(option, value, backend.name, others);
  };
  const { losses, forward } = backend.capabilities;
  if (!losses.includes(needed)) {
    refuse(
      "fine_tuning.loss",
      loss.type,
      backendsThat((row) => row.losses.includes(needed)),
    );
  }
  const withForward = backendsThat((row) => row.forward);
  if (forward) return;
  if (loss.type === "dpo") refuse("fine_tuning.loss", loss.type, withForward);
  if (val !== null) refuse("fine_tuning.val", val, withForward);
  if (valFraction > 0) refuse("fine_tuning.val_fraction", valFraction, withForward);
}

/** @throws ConfigError for options of fine-tuning itself; those of `train` are only not read. */
export function checkHeldOut(
  { fineTuning, trainer }: TrainConfig,
  { val }: Pick<LoadedExamples, "val">,
): void {
  if (trainer.valOnly && val.length === 0) {
    throw new ConfigError({
      message: "trainer.val_only=true needs held-out examples, and there are none.",
      hint: "Set fine_tuning.val or fine_tuning.val_fraction=0.1, or remove the option.",
      fields: { options: ["trainer.val_only"] },
    });
  }
  if (fineTuning.patience === 0) return;
  if (val.length === 0) {
    throw new ConfigError({
      message: "fine_tuning.patience needs held-out examples, and there are none.",
      hint: "Set fine_tuning.val, or fine_tuning.val_fraction=0.1.",
      fields: { options: ["fine_tuning.patience"] },
    });
  }
  if (trainer.testFreq > 0) return;
  throw new ConfigError({
    message: "fine_tuning.patience needs validations during the run, but trainer.test_freq is 0.",
    hint: "Set trainer.test_freq to the steps between validations.",
  });
}

/** What a run, and its preview, say of its options and examples. */
export function fineTuneWarnings(config: TrainConfig, loaded: LoadedExamples): readonly string[] {
  const unread = unreadWarning(config, loaded.val.length > 0);
  return [...warningsOf(config), ...loaded.warnings, ...(unread === null ? [] : [unread])];
}

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

/** Tokens in all passes over rows: with DPO those of the policy and the update, and of the reference once. */
function tokensOf(
  { data, fineTuning }: TrainConfig,
  { train, val }: LoadedExamples,
  steps: number,
) {
  const batch = Math.min(data.trainBatchSize, train.length);
  const inUpdates = ((steps * batch) / train.length) * tokensIn(train);
  return fineTuning.loss.type === "sft" ? inUpdates : 2 * inUpdates + tokensIn([...train, ...val]);
}

/** On a backend that has started: it knows the tokens of the examples. */
export function exampleTraining(
  config: TrainConfig,
  backend: TrainingBackend,
  loaded: LoadedExamples,
): Training {
  checkHeldOut(config, loaded);
  const { train, val } = loaded;
  const { data, trainer } = config;
  const dataHash = hashExamples(train);
  const totalSteps =
    trainer.totalBatches > 0
      ? trainer.totalBatches
      : stepsForEpochs(train.length, data.trainBatchSize, trainer.totalEpochs);
  return {
    totalSteps,
    goal: lossGoal(config),
    data: { dataHash, valHash: hashExamples(val) },
    checkData(saved, { folder }) {
      if (saved.dataHash !== dataHash) throw otherTasksError(folder);
    },
    resumed: (state, _changes, folder) => withPatience(state, folder),
    warnings: fineTuneWarnings(config, loaded),
    estimate: formatTrainedTokens(
      tokensOf(config, loaded, totalSteps),
      runPrices(config, backend.name),
    ),
    async train(run) {
      // The reference of DPO is the model as it was loaded: before a checkpoint replaces it.
      const objective = await objectiveOf(run, loaded);
      await run.restore();
      const { trainBatchSize: batchSize, seed } = data;
      await using stepper = createExampleStepper(run, {
        ...{ objective, val, steps: run.state.step },
        batches: createBatchPlan(train, { batchSize, seed }),
      });
      return await run.loop(stepper);
    },
  };
}

async function objectiveOf(
  { config, backend, signal }: StartedRun,
  { train, val }: LoadedExamples,
): Promise<Objective<Example>> {
  const { loss } = config.fineTuning;
  const batchSize = config.data.trainBatchSize;
  if (loss.type === "sft") return crossEntropy(backend, batchSize, signal);
  const reference = await referenceOf(backend, [...train, ...val], batchSize, signal);
  return preference(backend, { beta: loss.beta, reference, batchSize, signal });
}
