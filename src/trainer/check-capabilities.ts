/**
 * Refuses options that the backend does not support, before anything starts. Knows no backend by
 * name.
 */
import type { BackendCapabilities, MeasuredMetric, TrainingBackend } from "../core/backend.ts";
import { backendsThat } from "../core/capabilities.ts";
import { UnsupportedOptionError } from "../core/errors.ts";
import { defaultOptim, type OptimSpec } from "../core/loss.ts";
import { namesByRole } from "../config/role-map.ts";
import type { TrainConfig } from "../config/train-config.ts";
import { guardMetrics, guardNames, guardOptions } from "./update/guards.ts";
import { isBackendLoss, supportsTrainerLoss } from "./update/loss-plan.ts";

/** An option that not every backend supports. */
export interface CapabilityRule {
  readonly option: string;
  value(config: TrainConfig): unknown;
  supported(capabilities: BackendCapabilities, config: TrainConfig): boolean;
}

const optimizerOptions: readonly [string, keyof OptimSpec & keyof TrainConfig["training"]][] = [
  ["training.beta1", "beta1"],
  ["training.beta2", "beta2"],
  ["training.eps", "eps"],
  ["training.weight_decay", "weightDecay"],
  ["training.max_grad_norm", "maxGradNorm"],
  ["training.learning_rate", "learningRate"],
];

type Correction = TrainConfig["algorithm"]["rolloutCorrection"];

/** These need the log-probabilities of the weights being trained. */
const needForward: readonly [string, (correction: Correction) => unknown][] = [
  ["bypass_mode", ({ bypassMode }) => (bypassMode === false ? false : null)],
  ["tis_mode", ({ tisMode }) => tisMode],
  ["rollout_rs", ({ rolloutRs }) => rolloutRs],
  ["rollout_token_veto_threshold", ({ rolloutTokenVetoThreshold }) => rolloutTokenVetoThreshold],
];

const correctionRules = needForward.map(([name, read]): CapabilityRule => ({
  option: `algorithm.rollout_correction.${name}`,
  value: ({ algorithm }) => read(algorithm.rolloutCorrection),
  supported: ({ forward }, { algorithm }) => forward || read(algorithm.rolloutCorrection) === null,
}));

/** A limit on a metric that the backend does not measure would never take effect. */
const guardRules = guardNames.map((name): CapabilityRule => ({
  option: guardOptions[name],
  value: ({ guards }) => guards[name],
  supported: (capabilities, config) =>
    config.guards[name] === null || isMeasured(guardMetrics[name], capabilities, config),
}));

/** The trainer measures ratios itself where it computes the loss. */
function isMeasured(
  metric: MeasuredMetric,
  capabilities: BackendCapabilities,
  config: TrainConfig,
): boolean {
  const isOfRatios = metric !== "grad_norm";
  if (isOfRatios && !isBackendLoss(config, capabilities)) return supportsTrainerLoss(capabilities);
  const hasRatios = config.algorithm.lossFn !== "cross_entropy";
  return (capabilities.measures ?? []).includes(metric) && (hasRatios || !isOfRatios);
}

/** Sampling options that not every backend has. */
const minPRules = (["train", "val"] as const).map((phase): CapabilityRule => ({
  option: `rollout.${phase}.min_p`,
  value: ({ rollout }) => rollout[phase].minP,
  supported: ({ minP = true }, { rollout }) => rollout[phase].minP === 0 || minP,
}));

/** Every option whose support depends on the backend. */
export const capabilityRules: readonly CapabilityRule[] = [
  {
    option: "algorithm.adv_estimator",
    value: (config) => config.algorithm.advEstimator,
    // It needs a value for each token, and no backend has a value model.
    supported: (_, { algorithm }) => algorithm.advEstimator !== "gae",
  },
  {
    option: "algorithm.loss_fn",
    value: (config) => config.algorithm.lossFn,
    supported: (capabilities, { algorithm }) =>
      (capabilities.losses as readonly string[]).includes(algorithm.lossFn) ||
      supportsTrainerLoss(capabilities),
  },
  {
    option: "algorithm.loss_fn_map",
    value: (config) => config.algorithm.lossFnMap,
    supported: (capabilities, { algorithm }) =>
      algorithm.lossFnMap.length === 0 || supportsTrainerLoss(capabilities),
  },
  {
    option: "algorithm.loss_agg_mode",
    value: (config) => config.algorithm.lossAggMode,
    supported: (capabilities, config) =>
      capabilities.aggregations.includes(config.algorithm.lossAggMode),
  },
  {
    option: "algorithm.clip_ratio_c",
    value: (config) => config.algorithm.clipRatioC,
    supported: (capabilities, { algorithm }) =>
      algorithm.clipRatioC === null ||
      // Other losses have no dual clip: a warning says that it has no effect.
      ![algorithm.lossFn, ...namesByRole(algorithm.lossFnMap).values()].includes("ppo") ||
      capabilities.dualClip === true ||
      supportsTrainerLoss(capabilities),
  },
  {
    option: "algorithm.kl_beta",
    value: (config) => config.algorithm.klBeta,
    supported: ({ klEstimators = [] }, { algorithm }) =>
      algorithm.klBeta === 0 || klEstimators.includes(algorithm.klEstimator),
  },
  {
    option: "algorithm.entropy_coef",
    value: (config) => config.algorithm.entropyCoef,
    supported: (capabilities, config) =>
      config.algorithm.entropyCoef === 0 || capabilities.entropyBonus === true,
  },
  {
    option: "algorithm.use_kl_in_reward",
    value: (config) => config.algorithm.useKlInReward,
    supported: ({ forward, reference }, { algorithm }) =>
      !algorithm.useKlInReward || (forward && reference === true),
  },
  ...correctionRules,
  ...guardRules,
  {
    option: "async_training.enable",
    value: (config) => config.asyncTraining.enable,
    supported: ({ servesWhileTraining = false }, { asyncTraining }) =>
      !asyncTraining.enable || servesWhileTraining,
  },
  {
    option: "model.lora_rank",
    value: (config) => config.model.loraRank,
    supported: (capabilities, config) =>
      config.model.loraRank === 0 ? capabilities.fullFineTune : capabilities.lora,
  },
  {
    option: "model.lora_alpha",
    value: (config) => config.model.loraAlpha,
    supported: ({ loraAlpha = null }, { model }) =>
      model.loraRank === 0 || loraAlpha === null || model.loraAlpha === loraAlpha,
  },
  ...minPRules,
  {
    option: "training.lr_schedule",
    value: (config) => config.training.lrSchedule,
    supported: (capabilities, config) =>
      config.training.lrSchedule === "constant" || capabilities.optimizer.includes("learningRate"),
  },
  {
    option: "training.warmup_steps",
    value: (config) => config.training.warmupSteps,
    supported: (capabilities, config) =>
      config.training.warmupSteps === 0 || capabilities.optimizer.includes("learningRate"),
  },
  ...optimizerOptions.map(([option, field]): CapabilityRule => ({
    option,
    value: (config) => config.training[field],
    supported: (capabilities, config) =>
      config.training[field] === defaultOptim[field] || capabilities.optimizer.includes(field),
  })),
];

/** @throws UnsupportedOptionError for the first option that is not supported. */
export function checkCapabilities(
  config: TrainConfig,
  backend: Pick<TrainingBackend, "name" | "capabilities">,
): void {
  for (const rule of capabilityRules) {
    if (rule.supported(backend.capabilities, config)) continue;
    const others = backendsThat((capabilities) => rule.supported(capabilities, config));
    throw new UnsupportedOptionError(rule.option, rule.value(config), backend.name, others);
  }
}

/** @throws UnsupportedOptionError when the backend cannot continue a run exactly. */
export function checkResume(backend: Pick<TrainingBackend, "name" | "capabilities">): void {
  if (backend.capabilities.exactResume) return;
  const others = backendsThat(({ exactResume }) => exactResume);
  throw new UnsupportedOptionError("resume", true, backend.name, others);
}
