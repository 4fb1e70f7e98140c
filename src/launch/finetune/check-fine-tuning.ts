/** What fine-tuning refuses, and what it warns of: options, backends, and too few held-out examples. */
import { warningsOf } from "../../config/load.ts";
import type { TrainConfig } from "../../config/train-config.ts";
import type { InferenceTarget, TrainingBackend } from "../../core/backend.ts";
import { backendsThat } from "../../core/capabilities.ts";
import { ConfigError, UnsupportedOptionError } from "../../core/errors.ts";
import type { Renderer } from "../../core/policy.ts";
import { checkCapabilities } from "../../trainer/check-capabilities.ts";
import type { LoadedExamples } from "./examples/load-examples.ts";
import { readerOf, unreadWarning } from "./unread-options.ts";

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

/**
 * @throws UnsupportedOptionError for a backend that has not what the loss or the validation needs; ConfigError for
 * adapters of roles.
 */
export function checkFineTuning(config: TrainConfig, backend: TrainingBackend): void {
  checkCapabilities(config, backend, readerOf(config));
  const { adapterByRole } = config.model;
  if (adapterByRole.length > 0)
    throw new ConfigError({
      message: `Fine-tuning trains one adapter, since examples have no roles; model.adapter_by_role is ${adapterByRole.join(", ")}.`,
      hint: "Remove the option. It is for train.",
      fields: { option: "model.adapter_by_role", value: adapterByRole },
    });
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
  if (loss.type !== "sft") refuse("fine_tuning.loss", loss.type, withForward);
  if (val !== null) refuse("fine_tuning.val", val, withForward);
  if (valFraction > 0) refuse("fine_tuning.val_fraction", valFraction, withForward);
}

/** @throws ConfigError for options of fine-tuning itself; those of `train` are only not read. */
export function checkHeldOut(
  { fineTuning, trainer }: TrainConfig,
  { val }: Pick<LoadedExamples, "val">,
): void {
  const isMeasured = val.length > 0 || fineTuning.rewards;
  if (trainer.valOnly && !isMeasured) {
    throw new ConfigError({
      message: "trainer.val_only=true needs held-out examples, and there are none.",
      hint: "Set fine_tuning.val, fine_tuning.val_fraction=0.1 or fine_tuning.rewards=true, or remove the option.",
      fields: { options: ["trainer.val_only"] },
    });
  }
  if (fineTuning.patience === 0) return;
  if (!isMeasured) {
    throw new ConfigError({
      message: "fine_tuning.patience needs held-out examples, and there are none.",
      hint: "Set fine_tuning.val, fine_tuning.val_fraction=0.1 or fine_tuning.rewards=true.",
      fields: { options: ["fine_tuning.patience"] },
    });
  }
  if (trainer.testFreq > 0) return;
  throw new ConfigError({
    message: "fine_tuning.patience needs validations during the run, but trainer.test_freq is 0.",
    hint: "Set trainer.test_freq to the steps between validations.",
  });
}

/** KTO compares an example with the completions of others. @throws ConfigError where there are none. */
export function checkFeedback({ data, fineTuning }: TrainConfig, loaded: LoadedExamples): void {
  if (fineTuning.loss.type !== "kto") return;
  const { train, val } = loaded;
  const refuse = (what: string, hint: string): never => {
    throw new ConfigError({
      message: `fine_tuning.loss=kto compares each example with the completion of another one, but ${what}.`,
      hint,
    });
  };
  if (data.trainBatchSize < 2)
    refuse(
      "data.train_batch_size is 1",
      "Set it to at least 2; 8 or more estimates the KL better.",
    );
  if (train.length < 2) refuse("there is only one to train on", "Add examples.");
  if (val.length === 1) refuse("only one is held out", "Hold out at least two, or none.");
}

/** The range that the paper recommends for the weight of all desirable examples by that of all undesirable ones. */
const balance = [1, 4 / 3] as const;

function balanceWarning(
  { loss }: TrainConfig["fineTuning"],
  { train }: LoadedExamples,
): readonly string[] {
  if (loss.type !== "kto") return [];
  const desirable = train.filter(({ label }) => label === true).length;
  const undesirable = train.length - desirable;
  const counts = `${desirable} examples are desirable and ${undesirable} are not`;
  if (desirable === 0 || undesirable === 0)
    return [`${counts}: there is nothing to tell apart, and KTO learns from both kinds.`];
  const { desirableWeight, undesirableWeight } = loss;
  const ratio = (desirable * desirableWeight) / (undesirable * undesirableWeight);
  const [low, high] = balance;
  if (desirable === undesirable || (ratio >= low * 0.99 && ratio <= high * 1.01)) return [];
  const wanted = (undesirable * undesirableWeight) / desirable;
  const range = balance.map((each) => Number((each * wanted).toPrecision(3))).join(" to ");
  return [`${counts}; fine_tuning.loss.desirable_weight from ${range} would balance them.`];
}

/** What a run, and its preview, say of its options and examples. */
export function fineTuneWarnings(config: TrainConfig, loaded: LoadedExamples): readonly string[] {
  const hasValidation = loaded.val.length > 0 || config.fineTuning.rewards;
  const unread = unreadWarning(config, hasValidation);
  return [
    ...warningsOf(config),
    ...loaded.warnings,
    ...balanceWarning(config.fineTuning, loaded),
    ...(unread === null ? [] : [unread]),
  ];
}
