/**
 * How far a quantized base is from the model as published, on text that it samples itself: a run trains and
 * samples the quantized network, and this is what that costs.
 */
import type { TrainingRow } from "../core/loss/training-row.ts";
import { defaultSampling } from "../core/policy.ts";
import { loadPolicy } from "./decoder/policy.ts";
import { PolicyTrainer } from "./training/trainer.ts";
import type { PolicyEngine } from "./policy-engine.ts";
import type { Device } from "./tensor/device.ts";
import type { Precision } from "./tensor/matrix.ts";

/** Means over sampled tokens. */
export interface QuantizationDistance {
  readonly tokens: number;
  /** KL divergence of the quantized model from the one as published, in nats per token (k3 estimate). */
  readonly kl: number;
  /** Of the importance weights between both, as a fraction of the tokens. */
  readonly effectiveSampleSize: number;
}

/** A model whose weights are used as they are. */
export interface PlainModel {
  readonly path: string;
  readonly device: Device;
  readonly precision: Precision;
  readonly memoryMiB: number;
}

export interface DistanceOptions extends PlainModel {
  /** Ids of the prompts that are continued. */
  readonly prompts: readonly Int32Array[];
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
  const published = await forwardPlain(rows, options);
  return distanceOf(
    rows.flatMap(({ targetMask }, row) =>
      [...targetMask.keys()]
        .filter((i) => targetMask[i] === 1)
        .map((i) => published[row]![i]! - quantized[row]![i]!),
    ),
  );
}

/**
 * `differences`: of each sampled token, its log-probability with the other network minus that with the one that
 * sampled it. KL by the k3 estimate, http://joschu.net/blog/kl-approx.html
 */
export function distanceOf(differences: readonly number[]): QuantizationDistance {
  const ratios = differences.map(Math.exp);
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

/** A row that only log-probabilities are computed of. */
export function rowOfSample(
  prompt: ArrayLike<number>,
  sampled: ArrayLike<number>,
  uid: string,
): TrainingRow {
  const tokens = Int32Array.from([...Array.from(prompt), ...Array.from(sampled)]);
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

/** Log-probabilities of all tokens of each row. */
export async function forwardPlain(
  rows: readonly TrainingRow[],
  { path, device, precision, memoryMiB }: PlainModel,
): Promise<readonly Float32Array[]> {
  const options = { device, precision, lora: null, isFrozen: true, seed: 0 };
  return new PolicyTrainer(await loadPolicy(path, options), { memoryMiB }).forward(rows);
}
