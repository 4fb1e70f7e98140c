/** Test help: a model small enough for exhaustive checks. */
import type { TrainingRow } from "../../src/core/loss/training-row.ts";
import type { LoraSpec } from "../../src/core/backend.ts";
import { createRandom } from "../../src/util/random.ts";
import type { LayerKind, ModelConfig } from "../../src/engine/model/model-config.ts";
import { createPolicy, type Policy, writeTrained } from "../../src/engine/decoder/policy.ts";
import { randomWeights } from "../../src/engine/model/random-weights.ts";
import { Device } from "../../src/engine/tensor/device.ts";
import type { Precision } from "../../src/engine/tensor/matrix.ts";

const layerKind: LayerKind = {
  rope: {
    theta: 10_000,
    frequencies: [1, 0.1, 0.01, 0.001],
    attentionFactor: 1,
    positions: Infinity,
  },
  window: null,
};

export const smallConfig: ModelConfig = {
  vocabSize: 48,
  hiddenSize: 32,
  layers: 2,
  heads: 4,
  kvHeads: 2,
  headSize: 8,
  ffnSize: 48,
  normEpsilon: 1e-5,
  layerKinds: [layerKind, layerKind],
  norms: {
    beforeAttention: "input_layernorm",
    afterAttention: null,
    beforeFeedForward: "post_attention_layernorm",
    afterFeedForward: null,
  },
  normOffset: 0,
  queryKeyNorm: "none",
  attentionBias: false,
  attentionScale: 1 / Math.sqrt(8),
  activation: "silu",
  embeddingScale: 1,
  fusedProjections: false,
  contextLength: 640,
  tiedEmbeddings: true,
};

/** Random weights, larger than usual so that predictions are far from uniform. */
export function smallWeights(config: ModelConfig = smallConfig): Map<string, Float32Array> {
  const weights = randomWeights(config, 11);
  for (const [name, data] of weights)
    if (!name.includes("norm")) for (let i = 0; i < data.length; i++) data[i]! *= 6;
  return weights;
}

export interface SmallPolicyOptions {
  readonly config?: ModelConfig;
  readonly weights?: ReadonlyMap<string, Float32Array>;
  readonly threads?: number;
  readonly precision?: Precision;
}

/** In 32-bit floats and on one thread, unless told otherwise. */
export function smallPolicy(
  lora: LoraSpec | null = null,
  {
    config = smallConfig,
    weights = smallWeights(config),
    threads = 1,
    precision = "f32",
  }: SmallPolicyOptions = {},
): Promise<Policy> {
  const device = new Device({ threads });
  return createPolicy(config, weights, { device, lora, seed: 11, precision });
}

/** What is trained, changed as an optimizer changes it. */
export async function changeWeights(
  policy: Policy,
  change: (name: string, data: Float32Array) => void,
): Promise<void> {
  for (const [name, data] of policy.data) change(name, data);
  await writeTrained(policy, policy.weights);
}

/** With an adapter that has an effect: B starts at zero, where A has no gradient. */
export async function adaptedPolicy(options?: SmallPolicyOptions): Promise<Policy> {
  const policy = await smallPolicy({ rank: 3, alpha: 6 }, options);
  await changeWeights(policy, (name, data) => {
    if (name.includes("lora_B")) data.set(data.map((_, i) => 0.1 * Math.cos(i)));
  });
  return policy;
}

export function randomTokens(
  seed: number,
  length: number,
  vocabSize: number = smallConfig.vocabSize,
): Int32Array {
  const random = createRandom(seed);
  return Int32Array.from({ length }, () => Math.floor(random() * vocabSize));
}

/** A row whose tokens from `promptLength` on are trained. */
export function rowOf(
  tokens: Int32Array,
  promptLength: number,
  fields: { logprobs?: Float32Array; advantage?: number } = {},
): TrainingRow {
  const targetMask = new Uint8Array(tokens.length).fill(1, promptLength);
  const samplingLogprobs = new Float32Array(tokens.length);
  if (fields.logprobs !== undefined) samplingLogprobs.set(fields.logprobs, promptLength);
  return {
    tokens,
    targetMask,
    samplingLogprobs,
    advantages: Float32Array.from(targetMask, (m) => m * (fields.advantage ?? 1)),
    segments: [],
    provenance: {
      taskId: "t",
      episodeId: "e",
      rolloutIndex: 0,
      trajectoryUid: "u",
      trajectoryName: "agent",
    },
  };
}
