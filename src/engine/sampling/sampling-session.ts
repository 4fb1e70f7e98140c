/**
 * One run of the sampling graph with the caller's cache. Shapes are chosen so that a sequence's
 * numbers never depend on its neighbors in the batch: at least two rows (a single row would use
 * another multiplication kernel), and a cache length that is a function of the sequence alone.
 */
import { feedParameters, type PolicyModel } from "../model/policy-model.ts";
import { operatorsFor, type Provider } from "../provider.ts";
import { createSession, type Session, type Tensor } from "../runtime.ts";
import { quantizeFrozen } from "./int8-weights.ts";
import {
  buildSamplingGraph,
  cachedKeys,
  cachedValues,
  newKeys,
  newValues,
  type BuiltSamplingGraph,
} from "./sampling-graph.ts";

/**
 * What frozen matrices are multiplied as. `int8` reads a quarter of the memory and samples from a
 * slightly different distribution than the one that is trained; its log-probabilities are those it
 * sampled from, so ratios in the loss correct for it.
 */
export const samplingPrecisions = ["float32", "int8"] as const;
export type SamplingPrecision = (typeof samplingPrecisions)[number];

/** Keys and values per layer, [B, K, T, D] each. */
export interface LayeredCache {
  readonly keys: readonly Float32Array[];
  readonly values: readonly Float32Array[];
}

export interface StepInput {
  /** B; at least 2. */
  readonly sequences: number;
  /** S */
  readonly newTokens: number;
  /** T */
  readonly cachedTokens: number;
  /** [B S] */
  readonly ids: BigInt64Array;
  /** [B S] */
  readonly positions: BigInt64Array;
  /** [B, S, T + S] */
  readonly mask: Float32Array;
  /** [R] indices into B S; at least 2. */
  readonly rows: BigInt64Array;
  /** At least B sequences long. */
  readonly cache: LayeredCache;
  /** [R] in [0, 1): sample a token for each row. Only for a session where `samples` is true. @default none */
  readonly uniforms?: Float64Array;
  /** @default true */
  readonly probabilities?: boolean;
}

export interface StepOutput {
  /** [R, V] of the next token, at temperature 1; empty where `probabilities` is false. */
  readonly probabilities: Float32Array;
  /** Null without `uniforms`. */
  readonly sampled: SampledRows | null;
  /** Per layer [B, K, S, D]. */
  readonly keys: readonly Float32Array[];
  readonly values: readonly Float32Array[];
}

export interface SampledRows {
  /** [R] ids. */
  readonly tokens: Float32Array;
  /** [R] their probabilities. */
  readonly probabilities: Float32Array;
}

export class SamplingSession {
  /** Whether it can sample tokens, at temperature 1 and without filters. */
  readonly samples: boolean;
  readonly #session: Session;
  readonly #policy: PolicyModel;
  readonly #fed: readonly string[];

  private constructor(session: Session, policy: PolicyModel, built: BuiltSamplingGraph) {
    this.#session = session;
    this.#policy = policy;
    this.#fed = built.fed;
    this.samples = built.samples;
  }

  static async create(
    policy: PolicyModel,
    threads: number,
    precision: SamplingPrecision = "float32",
    provider: Provider = "cpu",
  ): Promise<SamplingSession> {
    const built = buildSamplingGraph(policy, {
      operators: operatorsFor(provider),
      ...(precision === "int8" ? { quantized: await quantizeFrozen(policy) } : {}),
    });
    const folder = policy.mappedFolder;
    const session = await createSession(built.model, {
      threads,
      provider,
      cpuFallback: true,
      ...(folder === null ? {} : { externalFolder: folder }),
    });
    return new SamplingSession(session, policy, built);
  }

  async step(input: StepInput): Promise<StepOutput> {
    const { layers } = this.#policy.config;
    const layered = (name: (layer: number) => string): readonly string[] =>
      Array.from({ length: layers }, (_, layer) => name(layer));
    const [keys, values] = [layered(newKeys), layered(newValues)];
    const outputs = await this.#session.run(this.#inputs(input), [
      ...keys,
      ...values,
      ...(input.probabilities === false ? [] : ["probabilities"]),
      ...(input.uniforms === undefined ? [] : ["tokens", "sampled_probabilities"]),
    ]);
    const {
      probabilities = new Float32Array(0),
      tokens,
      sampled_probabilities: sampledProbabilities,
    } = outputs;
    return {
      probabilities,
      sampled: tokens === undefined ? null : { tokens, probabilities: sampledProbabilities! },
      keys: keys.map((name) => outputs[name]!),
      values: values.map((name) => outputs[name]!),
    };
  }

  #inputs(input: StepInput): Record<string, Tensor> {
    const { sequences: B, newTokens: S, cachedTokens: T } = input;
    const { layers, kvHeads, headSize } = this.#policy.config;
    const shape = [B, kvHeads, 1, T, headSize];
    const length = B * kvHeads * T * headSize;
    const R = input.rows.length;
    const inputs: Record<string, Tensor> = {
      ids: { data: input.ids, shape: [B * S] },
      positions: { data: input.positions, shape: [B, S] },
      mask: { data: input.mask, shape: [B, 1, 1, S, T + S] },
      rows: { data: input.rows, shape: [R] },
      ...feedParameters(this.#policy, this.#fed),
    };
    if (this.samples)
      inputs["uniforms"] = { data: input.uniforms ?? new Float64Array(R), shape: [R] };
    for (let layer = 0; layer < layers; layer++) {
      inputs[cachedKeys(layer)] = { data: input.cache.keys[layer]!.subarray(0, length), shape };
      inputs[cachedValues(layer)] = { data: input.cache.values[layer]!.subarray(0, length), shape };
    }
    return inputs;
  }

  close(): Promise<void> {
    return this.#session.close();
  }
}
