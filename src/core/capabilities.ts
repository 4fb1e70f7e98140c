/**
 * What each backend of this package supports: the single source. A backend exposes its own row, the
 * trainer refuses options outside of it by name, and messages name the backends that support it.
 */
import type { BackendCapabilities } from "./backend.ts";
import {
  defaultOptim,
  klEstimators,
  lossAggregations,
  lossNames,
  type OptimField,
} from "./loss/loss.ts";

/** Backends of this package, by the names that `backend` takes. */
export type BackendName = "local" | "tinker" | "fireworks" | "verl";

export const capabilityMatrix: Readonly<Record<BackendName, BackendCapabilities>> = {
  local: {
    losses: lossNames,
    aggregations: lossAggregations,
    klEstimators,
    entropyBonus: true,
    dualClip: true,
    observations: true,
    // A layer on the policy's hidden states.
    valueModel: { learningRate: 0.002, epochs: 16 },
    fullFineTune: true,
    lora: true,
    adapters: true,
    quantizations: ["int8"],
    loraTargets: "layers",
    exactResume: true,
    temperature: true,
    forward: true,
    reference: true,
    measures: ["grad_norm", "kl_k3", "ratio_mean"],
    servesWhileTraining: true,
    optimizer: Object.keys(defaultOptim) as OptimField[],
  },
  tinker: {
    losses: ["importance_sampling", "ppo", "cispo", "dro", "cross_entropy"],
    aggregations: lossAggregations,
    // Added to advantages.
    klEstimators,
    entropyBonus: false,
    dualClip: false,
    fullFineTune: false,
    lora: true,
    // Each is a model on the server.
    adapters: true,
    loraTargets: "groups",
    exactResume: true,
    // The API has no temperature of a loss.
    temperature: false,
    forward: true,
    reference: true,
    measures: ["kl_k3", "ratio_mean"],
    servesWhileTraining: true,
    // The API has no field for it.
    minP: false,
    // The scale of every adapter on Tinker is this over its rank.
    loraAlpha: 32,
    optimizer: Object.keys(defaultOptim) as OptimField[],
  },
  fireworks: {
    // The service's gspo and dro say nothing of tokens that are not trained; the trainer computes them.
    losses: ["importance_sampling", "ppo", "cispo", "cross_entropy"],
    aggregations: lossAggregations,
    // Added to advantages.
    klEstimators,
    entropyBonus: false,
    dualClip: false,
    fullFineTune: false,
    lora: true,
    loraTargets: "groups",
    // Serverless training loads no checkpoint of another session.
    exactResume: false,
    // The API has no temperature of a loss.
    temperature: false,
    forward: true,
    reference: true,
    measures: ["kl_k3", "ratio_mean"],
    servesWhileTraining: true,
    // The API has no field for it.
    minP: false,
    optimizer: Object.keys(defaultOptim) as OptimField[],
  },
  verl: {
    losses: lossNames,
    aggregations: lossAggregations,
    klEstimators,
    entropyBonus: true,
    dualClip: true,
    // A whole model, as in verl.
    valueModel: { learningRate: 1e-5, epochs: 1 },
    fullFineTune: true,
    // Merged into the weights that are served.
    lora: true,
    loraTargets: "layers",
    exactResume: true,
    temperature: true,
    forward: true,
    reference: true,
    measures: ["grad_norm", "kl_k3", "ratio_mean"],
    // Unless they have separate GPUs, its servers release their memory for training.
    servesWhileTraining: false,
    optimizer: Object.keys(defaultOptim) as OptimField[],
  },
};

/** Backends whose row passes `supported`. */
export function backendsThat(
  supported: (capabilities: BackendCapabilities) => boolean,
): readonly string[] {
  return Object.entries(capabilityMatrix).flatMap(([name, row]) => (supported(row) ? [name] : []));
}
