/**
 * How far a provider's numbers are from the CPU's for a whole policy: probabilities that are
 * sampled from, and the gradient of a loss to every weight. A wrong kernel would silently train on.
 */
import type { LoraSpec } from "../core/backend.ts";
import { defaultLoss } from "../core/loss/loss.ts";
import type { TrainingRow } from "../core/loss/training-row.ts";
import { lossParameterTensors } from "./loss/parameters.ts";
import type { LayerKind, ModelConfig } from "./model/model-config.ts";
import { randomPolicyModel, type PolicyModel } from "./model/policy-model.ts";
import type { Provider } from "./provider.ts";
import { SamplingSession } from "./sampling/sampling-session.ts";
import type { BatchLimits } from "./training/batch-limits.ts";
import { makeMicroBatches } from "./training/batch.ts";
import { LoadedGraphs } from "./training/loaded-graphs.ts";

const layerKind: LayerKind = {
  rope: { theta: 100, frequencies: [1, 0.1], attentionFactor: 1, positions: Infinity },
  window: null,
};

/** Every part that a model can have, each as small as possible. */
const config: ModelConfig = {
  vocabSize: 24,
  hiddenSize: 16,
  layers: 2,
  heads: 4,
  kvHeads: 2,
  headSize: 4,
  ffnSize: 24,
  normEpsilon: 1e-5,
  layerKinds: [layerKind, layerKind],
  norms: {
    beforeAttention: "input_layernorm",
    afterAttention: null,
    beforeFeedForward: "post_attention_layernorm",
    afterFeedForward: null,
  },
  normOffset: 0,
  queryKeyNorm: "head",
  attentionBias: true,
  attentionScale: 1 / Math.sqrt(4),
  activation: "silu",
  embeddingScale: 1,
  fusedProjections: false,
  contextLength: 64,
  tiedEmbeddings: false,
};

/** Tokens repeat, so that gradients of one embedding accumulate. */
const tokens = Int32Array.of(3, 7, 3, 19, 11, 7, 2, 23, 5, 3);
const promptLength = 4;

/** Weights larger than usual, so that predictions are far from uniform, and an adapter with an effect. */
function probedPolicy(lora: LoraSpec | null): PolicyModel {
  const policy = randomPolicyModel(config, { lora, seed: 1 });
  for (const [name, data] of policy.data) {
    if (name.includes("lora_B")) data.set(data.map((_, i) => Math.sin(i) / 4));
    else if (!name.includes("norm")) data.set(data.map((weight) => weight * 10));
  }
  return policy;
}

function probedRow(rowTokens: Int32Array, rolloutIndex: number): TrainingRow {
  const mask = new Uint8Array(rowTokens.length).fill(1, promptLength);
  return {
    tokens: rowTokens,
    targetMask: mask,
    samplingLogprobs: Float32Array.from(mask, (trained) => -3 * trained),
    advantages: Float32Array.from(mask, (trained) => trained * (rolloutIndex === 0 ? 1 : -0.5)),
    segments: [],
    provenance: {
      taskId: "probe",
      episodeId: `${rolloutIndex}`,
      rolloutIndex,
      trajectoryUid: `${rolloutIndex}`,
      trajectoryName: "agent",
    },
  };
}

/** Two rows with a shared prefix, one longer than the other. */
const rows = [probedRow(tokens, 0), probedRow(tokens.slice(0, 8), 1)];

async function gradients(policy: PolicyModel, provider: Provider): Promise<Numbers> {
  const loss = { ...defaultLoss, name: "importance_sampling", entropyCoef: 0.1 } as const;
  const limits: BatchLimits = { fit: () => "kept", headChunkRows: 4 };
  const [batch] = makeMicroBatches(rows, loss, limits);
  const graphs = new LoadedGraphs(policy, { threads: 1, provider });
  try {
    const run = await graphs.gradient(loss, { checkpointed: false });
    return await run({
      ...batch!.modelInputs,
      ...batch!.lossInputs,
      ...lossParameterTensors(loss),
    });
  } finally {
    await graphs.close();
  }
}

type Numbers = Readonly<Record<string, Float32Array>>;

/** Two sequences of one new token each, with only noise cached. */
async function probabilities(policy: PolicyModel, provider: Provider): Promise<Numbers> {
  const session = await SamplingSession.create(policy, 1, "float32", provider);
  try {
    const { layers, kvHeads, headSize } = config;
    const [sequences, cachedTokens] = [2, 3];
    const size = sequences * kvHeads * cachedTokens * headSize;
    const cached = Array.from({ length: layers }, (_, layer) =>
      Float32Array.from({ length: size }, (__, i) => Math.sin(i + layer)),
    );
    const { probabilities: sampledFrom } = await session.step({
      sequences,
      newTokens: 1,
      cachedTokens,
      ids: BigInt64Array.of(3n, 7n),
      positions: BigInt64Array.of(3n, 3n),
      mask: new Float32Array(sequences * (cachedTokens + 1)),
      rows: BigInt64Array.of(0n, 1n),
      cache: { keys: cached, values: cached },
    });
    return { probabilities: sampledFrom };
  } finally {
    await session.close();
  }
}

/** Training all weights, or only an adapter: their gradients use different operators. */
const adapters = [null, { rank: 2, alpha: 4 }] as const;

async function numbersOn(provider: Provider, lora: LoraSpec | null): Promise<Numbers> {
  const policy = probedPolicy(lora);
  return { ...(await gradients(policy, provider)), ...(await probabilities(policy, provider)) };
}

export interface PolicyDifference {
  /** What differs most: a gradient, a sum, the probabilities. */
  readonly name: string;
  /** Largest difference between elements, relative to the largest element. */
  readonly relative: number;
}

/** The largest of all differences between `provider` and the CPU. */
export async function policyDifference(provider: Provider): Promise<PolicyDifference> {
  const differences: PolicyDifference[] = [];
  for (const lora of adapters) {
    const expected = await numbersOn("cpu", lora);
    const actual = await numbersOn(provider, lora);
    for (const [name, numbers] of Object.entries(expected))
      differences.push({ name, relative: relativeDifference(numbers, actual[name]!) });
  }
  return differences.reduce((worst, next) => (next.relative > worst.relative ? next : worst));
}

function relativeDifference(expected: Float32Array, actual: Float32Array): number {
  let [difference, largest] = [0, 0];
  for (const [i, value] of expected.entries()) {
    const apart = Math.abs(value - actual[i]!);
    if (Number.isNaN(apart)) return Infinity;
    difference = Math.max(difference, apart);
    largest = Math.max(largest, Math.abs(value));
  }
  return difference / Math.max(largest, Number.MIN_VALUE);
}
