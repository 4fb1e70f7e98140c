/**
 * One LoRA adapter with its optimizer and its accumulated gradient. Plain state: `base-model.ts`
 * computes with it. Many adapters share the base weights.
 */
import type { LoraSpec } from "../../core/backend.ts";
import type { OptimSpec } from "../../core/loss/loss.ts";
import type { StoredPolicy } from "../../engine/checkpoint/policy-state.ts";
import { adamStep, createAdamState, type AdamState } from "../../engine/optimizer/adamw.ts";
import type { Policy } from "../../engine/decoder/policy.ts";
import { RequestError } from "../request-error.ts";

export interface AdapterSpec {
  readonly rank: number;
  /** The initial factors derive from it. */
  readonly seed: number;
  readonly trainAttention: boolean;
  readonly trainMlp: boolean;
  /** Its scale is this over its rank. @default 32, as Tinker has it */
  readonly alpha?: number;
}

const usualAlpha = 32;

export function loraSpecOf({ rank, alpha = usualAlpha }: AdapterSpec): LoraSpec {
  return { rank, alpha };
}

/** Neither part is trained: the base model, to compare with. */
export function isFrozen({ trainAttention, trainMlp }: AdapterSpec): boolean {
  return !trainAttention && !trainMlp;
}

/** What gradients are divided by before a step; `none` leaves them as the sums that they are. */
export type GradientNormalization = "num_loss_tokens" | "num_sequences" | "none";

/** What a gradient was summed over. */
export interface GradientCounts {
  /** Tokens whose loss has a weight other than 0. */
  readonly tokens: number;
  /** Sequences with such a token. */
  readonly sequences: number;
}

const noCounts: GradientCounts = { tokens: 0, sequences: 0 };

/** Values of an adapter's factors at one moment; never changed. `rank` 0 is the base model alone. */
export interface AdapterWeights {
  readonly rank: number;
  readonly alpha: number;
  readonly factors: ReadonlyMap<string, Float32Array>;
}

export const baseWeights: AdapterWeights = { rank: 0, alpha: 0, factors: new Map() };

/** All of them or none. @throws RequestError 400 where they do not fit. */
export function copyFactors(from: AdapterWeights["factors"], to: AdapterWeights["factors"]): void {
  for (const [name, { length }] of to) {
    const found = from.get(name)?.length ?? 0;
    if (found !== length)
      throw new RequestError(
        400,
        `The adapter does not fit this model: "${name}" has ${found} numbers, but must have ${length}.`,
      );
  }
  for (const [name, values] of to) values.set(from.get(name)!);
}

/** Of a policy, what belongs to one adapter. */
export type AdapterPolicy = StoredPolicy & Pick<Policy, "loraParameters">;

export class Adapter {
  readonly spec: AdapterSpec;
  readonly policy: AdapterPolicy;
  adam: AdamState;
  readonly #gradients: Map<string, Float32Array>;
  #refusal: unknown = null;
  #hasGradient = false;
  #counts = noCounts;

  constructor(spec: AdapterSpec, policy: AdapterPolicy) {
    this.spec = spec;
    this.policy = policy;
    this.adam = createAdamState(policy.trained);
    this.#gradients = new Map(
      policy.trained.map(({ name }) => [name, new Float32Array(policy.data.get(name)!.length)]),
    );
  }

  /** All or nothing: hand over the gradient of a whole request. */
  accumulate(
    gradients: ReadonlyMap<string, Float32Array>,
    counts: GradientCounts = noCounts,
  ): void {
    this.#hasGradient = true;
    this.#counts = {
      tokens: this.#counts.tokens + counts.tokens,
      sequences: this.#counts.sequences + counts.sequences,
    };
    for (const [name, sum] of this.#gradients) {
      const gradient = gradients.get(name)!;
      for (let i = 0; i < sum.length; i++) sum[i]! += gradient[i]!;
    }
  }

  /** The next step fails and forgets what was accumulated, since part of it is missing. */
  refuseStep(reason: unknown): void {
    this.#refusal = reason;
  }

  /** The batch is begun anew: the next step is whole again, unless parts of the last one are in it. */
  allowStep(): void {
    if (!this.#hasGradient) this.#refusal = null;
  }

  /**
   * Steps on what has been accumulated, and forgets it. Without any, momentum alone moves the weights.
   * @returns the gradient's norm before clipping.
   * @throws NumericsError when it is not finite; the weights stay as they were.
   */
  step(optim: OptimSpec, normalization: GradientNormalization = "none"): number {
    const refusal = this.#refusal;
    this.#refusal = null;
    try {
      if (refusal !== null)
        throw new RequestError(
          400,
          `The step was not taken, since a request before it failed (${messageOf(refusal)}) and its gradient is missing. All gradients were dropped: send the batch again.`,
        );
      this.#normalize(normalization);
      return adamStep(this.policy.trained, this.policy.data, this.#gradients, this.adam, optim);
    } finally {
      this.#hasGradient = false;
      this.#counts = noCounts;
      for (const sum of this.#gradients.values()) sum.fill(0);
    }
  }

  #normalize(normalization: GradientNormalization): void {
    if (normalization === "none") return;
    const { tokens, sequences } = this.#counts;
    const divisor = normalization === "num_loss_tokens" ? tokens : sequences;
    if (divisor <= 1) return;
    for (const sum of this.#gradients.values())
      for (let i = 0; i < sum.length; i++) sum[i]! /= divisor;
  }

  forgetMoments(): void {
    this.adam = createAdamState(this.policy.trained);
  }

  /** Its factors as they are now; they change with the next step. */
  get weights(): AdapterWeights {
    return { ...loraSpecOf(this.spec), factors: this.policy.data };
  }

  snapshot(): AdapterWeights {
    const copies = Array.from(this.policy.data, ([name, data]) => [name, data.slice()] as const);
    return { ...this.weights, factors: new Map(copies) };
  }
}

function messageOf(reason: unknown): string {
  return reason instanceof Error ? reason.message.replace(/\.$/u, "") : String(reason);
}
