/**
 * Refuses options that the backend does not support, before anything starts. The schema entry of an
 * option says what it needs of a backend. Knows no backend by name.
 */
import type { BackendCapabilities, MeasuredMetric, TrainingBackend } from "../core/backend.ts";
import { backendsThat } from "../core/capabilities.ts";
import { loraGroupOf } from "../core/lora.ts";
import { UnsupportedOptionError } from "../core/errors.ts";
import { type ConfigField, configFields } from "../config/fields.ts";
import { optionValue } from "../config/option-types.ts";
import { configTree } from "../config/parse.ts";
import type { BackendNeed } from "../config/schema/option-meta.ts";
import type { TrainConfig } from "../config/train-config.ts";
import { valueAt } from "../config/tree.ts";
import { isBackendLoss, supportsTrainerLoss } from "./update/update-spec.ts";

type Check = (capabilities: BackendCapabilities, config: TrainConfig) => boolean;

/** The trainer measures ratios itself where it computes the loss. */
const measures =
  (metric: MeasuredMetric): Check =>
  (capabilities, config) => {
    const isOfRatios = metric !== "grad_norm";
    if (isOfRatios && !isBackendLoss(config, capabilities)) {
      return supportsTrainerLoss(capabilities);
    }
    return (capabilities.measures ?? []).includes(metric);
  };

const sets =
  (field: BackendCapabilities["optimizer"][number]): Check =>
  ({ optimizer }) =>
    optimizer.includes(field);

/** Whether a backend has what an option needs, by the name that the schema gives it. */
const checks: Readonly<Record<BackendNeed, Check>> = {
  valueModel: ({ valueModel }) => valueModel !== undefined,
  loss: (capabilities, { algorithm }) =>
    (capabilities.losses as readonly string[]).includes(algorithm.loss.type) ||
    supportsTrainerLoss(capabilities),
  lossPerRole: supportsTrainerLoss,
  aggregation: ({ aggregations }, { algorithm }) =>
    aggregations.includes(algorithm.aggregation.type),
  dualClip: (capabilities) => capabilities.dualClip === true || supportsTrainerLoss(capabilities),
  klEstimator: ({ klEstimators = [] }, { algorithm }) =>
    klEstimators.includes(algorithm.klEstimator),
  entropyBonus: ({ entropyBonus }) => entropyBonus === true,
  // The log-probabilities of the weights that are trained.
  forward: ({ forward }) => forward,
  referenceForward: ({ forward, reference }) => forward && reference === true,
  // A limit on a metric that is not measured would never take effect.
  grad_norm: measures("grad_norm"),
  kl_k3: measures("kl_k3"),
  ratio_mean: measures("ratio_mean"),
  servesWhileTraining: ({ servesWhileTraining }) => servesWhileTraining === true,
  loraOrFull: ({ lora, fullFineTune }, { model }) => (model.loraRank === 0 ? fullFineTune : lora),
  loraAlpha: ({ loraAlpha = null }, { model }) =>
    model.loraRank === 0 || loraAlpha === null || model.loraAlpha === loraAlpha,
  adapters: ({ adapters }) => adapters === true,
  loraTargets: ({ loraTargets = "all" }, { model }) =>
    model.loraRank === 0 ||
    loraTargets === "layers" ||
    (loraTargets === "groups" && loraGroupOf(model.loraTargets) !== null),
  minP: ({ minP = true }) => minP,
  observations: ({ observations }) => observations === true,
  quantization: ({ quantizations = [] }, { model }) => quantizations.includes(model.quantization),
  learningRate: sets("learningRate"),
  beta1: sets("beta1"),
  beta2: sets("beta2"),
  eps: sets("eps"),
  weightDecay: sets("weightDecay"),
  maxGradNorm: sets("maxGradNorm"),
};

/** An option that not every backend supports. */
export interface CapabilityRule {
  readonly option: string;
  value(config: TrainConfig): unknown;
  supported(capabilities: BackendCapabilities, config: TrainConfig): boolean;
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

function ruleOf(field: ConfigField): readonly CapabilityRule[] {
  const { key, backend, inherits, ofModel } = field;
  const standard = ofModel?.plain ?? field.default;
  if (backend === undefined) return [];
  const { need, values } = backend;
  const value = (config: TrainConfig): unknown => optionValue(configTree(config), field);
  const isNeeded = (config: TrainConfig): boolean => {
    if (values === "all") return true;
    const now = value(config);
    if (values !== undefined) return values.some((one) => same(one, now));
    const usual = inherits === undefined ? standard : valueAt(configTree(config), inherits);
    return !same(now, usual);
  };
  const supported = (capabilities: BackendCapabilities, config: TrainConfig): boolean =>
    !isNeeded(config) || checks[need](capabilities, config);
  return [{ option: key, value, supported }];
}

/** Every option whose support depends on the backend, as the schema says. */
export const capabilityRules: readonly CapabilityRule[] = configFields().flatMap(ruleOf);

/**
 * @param isRead whether the command reads an option. @default all
 * @throws UnsupportedOptionError for the first option that is not supported.
 */
export function checkCapabilities(
  config: TrainConfig,
  backend: Pick<TrainingBackend, "name" | "capabilities">,
  isRead: (option: string) => boolean = () => true,
): void {
  for (const rule of capabilityRules) {
    if (!isRead(rule.option) || rule.supported(backend.capabilities, config)) continue;
    const others = backendsThat((capabilities) => rule.supported(capabilities, config));
    throw new UnsupportedOptionError(rule.option, rule.value(config), backend.name, others);
  }
}

/** @throws UnsupportedOptionError when the backend cannot continue a run exactly. */
export function checkResume(backend: Pick<TrainingBackend, "name" | "capabilities">): void {
  if (backend.capabilities.exactResume) return;
  const others = backendsThat(({ exactResume }) => exactResume);
  throw new UnsupportedOptionError(
    "resume",
    true,
    backend.name,
    others,
    "Its checkpoints can be loaded only by the run that saved them. Start a new run.",
  );
}
