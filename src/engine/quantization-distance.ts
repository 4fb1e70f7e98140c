/**
 * How far a quantized base is from the model as published, on text that it samples itself: a run trains and
 * samples the quantized network, and this is what that costs.
 */
import type { TrainingRow } from "../core/loss/training-row.ts";
import { defaultSampling } from "../core/policy.ts";
import { loadPolicyModel } from "./model/policy-model.ts";
import type { PolicyEngine } from "./policy-engine.ts";
import type { Provider } from "./provider.ts";
import { PolicyTrainer } from "./training/policy-trainer.ts";

/** Means over sampled tokens. */
export interface QuantizationDistance {
  readonly tokens: number;
  /** KL divergence of the quantized model from the one as published, in nats per token (k3 estimate). */
  readonly kl: number;
  /** Of the importance weights between both, as a fraction of the tokens. */
  readonly effectiveSampleSize: number;
}

export interface DistanceOptions {
  /** The model as published. */
  readonly path: string;
  /** Ids of the prompts that are continued. */
  readonly prompts: readonly Int32Array[];
  readonly threads: number;
  readonly provider: Provider;
  readonly memoryMiB: number;
}

const samplesPerPrompt = 4;
const newTokens = 32;

/** @param engine the quantized model, with an adapter that has no effect yet */
export async function quantizationDistance(
  engine: PolicyEngine,
  options: DistanceOptions,
): Promise<QuantizationDistance> {
  const rows = await sampledRows(engine, options.prompts);
  const quantized = await engine.forward(rows);
  const published = await forwardAsPublished(rows, options);
  const ratios = rows.flatMap(({ targetMask }, row) =>
    [...targetMask.keys()]
      .filter((i) => targetMask[i] === 1)
      .map((i) => Math.exp(published[row]![i]! - quantized[row]![i]!)),
  );
  const sum = (of: (ratio: number) => number): number =>
    ratios.reduce((total, ratio) => total + of(ratio), 0);
  return {
    tokens: ratios.length,
    kl: sum((ratio) => ratio - 1 - Math.log(ratio)) / ratios.length,
    effectiveSampleSize: sum((ratio) => ratio) ** 2 / sum((ratio) => ratio ** 2) / ratios.length,
  };
}

async function sampledRows(
  engine: PolicyEngine,
  prompts: readonly Int32Array[],
): Promise<readonly TrainingRow[]> {
  const groups = await Promise.all(
    prompts.map(async (prompt, seed) => {
      const room = engine.contextLength - prompt.length;
      if (room < 1) return [];
      const params = { ...defaultSampling, maxTokens: Math.min(newTokens, room), stopTokenIds: [] };
      const samples = await engine.sample({
        tokens: prompt,
        n: samplesPerPrompt,
        params: { ...params, seed },
      });
      return samples.map(({ tokens }, i) => rowOfSample(prompt, tokens, `${seed} ${i}`));
    }),
  );
  return groups.flat();
}

function rowOfSample(prompt: Int32Array, sampled: Int32Array, uid: string): TrainingRow {
  const tokens = Int32Array.from([...prompt, ...sampled]);
  return {
    tokens,
    targetMask: new Uint8Array(tokens.length).fill(1, prompt.length),
    samplingLogprobs: new Float32Array(tokens.length),
    advantages: new Float32Array(tokens.length),
    segments: [],
    provenance: {
      taskId: "quantization",
      episodeId: uid,
      rolloutIndex: 0,
      trajectoryUid: uid,
      trajectoryName: "quantization",
    },
  };
}

async function forwardAsPublished(
  rows: readonly TrainingRow[],
  { path, threads, provider, memoryMiB }: DistanceOptions,
): Promise<readonly Float32Array[]> {
  // With an adapter, weights are mapped from a file and not held in memory.
  const model = await loadPolicyModel(path, { lora: { rank: 1, alpha: 1 }, seed: 0 });
  const bare = { ...model, lora: null, loraParameters: [], trained: [] };
  const trainer = new PolicyTrainer(bare, { threads, provider, memoryMiB });
  try {
    return await trainer.forward(rows);
  } finally {
    await trainer.close();
    model.scratch?.[Symbol.dispose]();
  }
}
