/**
 * A backend on a service of Tinker's protocol: rows become datums, its server computes gradients and
 * steps. What a service does in another way is in the class that extends this one.
 */
import type {
  BackendCapabilities,
  InferenceTarget,
  RunContext,
  TrainingBackend,
  UpdateMetrics,
} from "../../core/backend.ts";
import { backendsThat } from "../../core/capabilities.ts";
import { UnsupportedOptionError } from "../../core/errors.ts";
import type { LossSpec, OptimSpec } from "../../core/loss/loss.ts";
import type { TrainingRow } from "../../core/loss/training-row.ts";
import type { Renderer, Sampler } from "../../core/policy.ts";
import {
  refuseAdapters,
  refuseObservations,
  refuseQuantization,
} from "../../core/refuse-unsupported.ts";
import type { TinkerCallOptions } from "../../tinker-api/wire/futures.ts";
import type { AdamParams, ModelClient } from "../../tinker-api/wire/model-client.ts";
import { defined } from "../../util/defined.ts";
import { makeDatums, type PreparedBatch } from "./datums.ts";
import { foldPenalty } from "./kl-penalty.ts";
import { datumLoss } from "./losses.ts";
import type { ServerTraits } from "./server-traits.ts";
import { serverMetrics, updateMetrics } from "./update-metrics.ts";

/** What there is between the start and the end. */
export interface DatumRun {
  readonly model: ModelClient;
  readonly traits: ServerTraits;
  readonly sampler: Sampler;
}

export interface Opened<Run> {
  readonly run: Run;
  readonly renderer: Renderer;
}

type ServerMetrics = Readonly<Record<string, number>>;

/** Limit at the end of a run; the end of the session ends its models anyway. */
const unloadMs = 5_000;

/** Its log-probabilities are those of the model, whatever its weights. */
const plainLoss = {
  name: "cross_entropy",
  aggregation: "seq-mean-token-mean",
  epsClip: 0,
  epsClipHigh: 0,
} as const;

export abstract class DatumBackend<Run extends DatumRun> implements TrainingBackend {
  abstract readonly name: "tinker" | "fireworks";
  #run: Run | undefined;
  #reported: ServerMetrics = {};
  /** Tokens of the sequences in passes, with and without gradients. */
  protected passedTokens = 0;

  abstract get capabilities(): BackendCapabilities;

  /** undefined before the start and after the end. */
  protected get started(): Run | undefined {
    return this.#run;
  }

  protected get run(): Run {
    if (this.#run === undefined) throw new Error(`The ${this.name} backend has not been started.`);
    return this.#run;
  }

  /** Connects, makes the model and publishes its first weights; leaves nothing behind when it fails. */
  protected abstract open(context: RunContext): Promise<Opened<Run>>;

  async start(context: RunContext): Promise<InferenceTarget> {
    if (this.#run !== undefined)
      throw new Error(`The ${this.name} backend has already been started.`);
    refuseQuantization(context.model, this.name);
    refuseAdapters(context.model, this.name);
    if (context.model.lora === null && !this.capabilities.fullFineTune)
      throw new UnsupportedOptionError(
        "model.lora_rank",
        0,
        this.name,
        backendsThat(({ fullFineTune }) => fullFineTune),
      );
    const { run, renderer } = await this.open(context);
    this.#run = run;
    return { kind: "sampler", sampler: run.sampler, renderer };
  }

  /** @throws what keeps the server from this update. */
  protected async checkUpdate(_loss: LossSpec, _signal?: AbortSignal): Promise<void> {}

  /** An optimizer step on a gradient that has been requested. @returns what the server measures. */
  protected abstract step(
    gradient: Promise<unknown>,
    adam: AdamParams,
    options: TinkerCallOptions,
  ): Promise<ServerMetrics>;

  async updatePolicy(
    rows: readonly TrainingRow[],
    loss: LossSpec,
    optim: OptimSpec,
    signal?: AbortSignal,
  ): Promise<UpdateMetrics> {
    const { model, traits } = this.run;
    const { name, config } = datumLoss(this.name, loss);
    refuseObservations(rows, this.name);
    await this.checkUpdate(loss, signal);
    const penalty = loss.kl
      ? foldPenalty(rows, await this.forward(rows, "reference", signal), loss.kl)
      : null;
    const batch = this.#counted(makeDatums(rows, loss, traits, penalty?.penalties));
    if (batch.data.length === 0) return { tokens: 0, loss: 0, grad_norm: 0 };
    const options = defined({ signal });
    const gradient = model.forwardBackward(batch.data, name, config, options);
    const adam = {
      learningRate: optim.learningRate,
      beta1: optim.beta1,
      beta2: optim.beta2,
      eps: optim.eps,
      weightDecay: optim.weightDecay,
      gradClipNorm: optim.maxGradNorm,
    };
    const [output, step] = await Promise.all([gradient, this.step(gradient, adam, options)]);
    return {
      ...updateMetrics(rows, batch, output, loss, traits.reduction),
      ...serverMetrics(step),
      ...(penalty === null ? {} : { kl_reference: penalty.mean }),
    };
  }

  #counted(batch: PreparedBatch): PreparedBatch {
    for (const { tokens } of batch.data) this.passedTokens += tokens.length;
    return batch;
  }

  /** [row][length] under the base model. */
  protected abstract scoreByReference(
    rows: readonly TrainingRow[],
    options: TinkerCallOptions,
  ): Promise<readonly Float32Array[]>;

  async forward(
    rows: readonly TrainingRow[],
    which: "current" | "reference",
    signal?: AbortSignal,
  ): Promise<readonly Float32Array[]> {
    const options = defined({ signal });
    if (which === "reference") return this.scoreByReference(rows, options);
    return this.scoreBy(this.run.model, rows, options);
  }

  protected async scoreBy(
    model: ModelClient,
    rows: readonly TrainingRow[],
    options: TinkerCallOptions,
  ): Promise<readonly Float32Array[]> {
    const bare = rows.map((row) => ({
      ...row,
      weights: new Float32Array(row.tokens.length).fill(1),
    }));
    const { data, rowOf } = this.#counted(makeDatums(bare, plainLoss, this.run.traits));
    const result: Float32Array[] = rows.map((row) => new Float32Array(row.tokens.length));
    if (data.length === 0) return result;
    const { outputs } = await model.forward(data, "cross_entropy", {}, options);
    for (const [d, index] of rowOf.entries()) {
      const logprobs = outputs[d]!["logprobs"]!.data;
      result[index] = maskTo(rows[index]!, (i) => logprobs[i - 1]!);
    }
    return result;
  }

  abstract publishWeights(): Promise<number>;
  abstract saveState(folder: string): Promise<void>;
  abstract loadState(folder: string, weightVersion: number): Promise<void>;

  /** Counts since the start, by metric. */
  protected abstract counts(): ServerMetrics;

  async metrics(): Promise<UpdateMetrics> {
    const before = this.#reported;
    this.#reported = this.counts();
    return Object.fromEntries(
      Object.entries(this.#reported).map(([name, count]) => [name, count - (before[name] ?? 0)]),
    );
  }

  /** Keeps what is to be kept when the session ends. */
  protected async keep(_run: Run): Promise<void> {}

  /** Ends the session. */
  protected abstract close(run: Run): Promise<void>;

  async [Symbol.asyncDispose](): Promise<void> {
    const run = this.#run;
    this.#run = undefined;
    if (run === undefined) return;
    await this.keep(run);
    await run.model.unload({ signal: AbortSignal.timeout(unloadMs) }).catch(() => undefined);
    await this.close(run);
  }
}

/** `value` at the tokens that are trained, 0 elsewhere; the first token has none. */
export function maskTo(
  { targetMask }: TrainingRow,
  value: (position: number) => number,
): Float32Array {
  return Float32Array.from(targetMask, (mask, i) => (mask === 1 && i > 0 ? value(i) : 0));
}

/** Calls `make` when it is needed first, and again only after it has failed. */
export function madeOnce<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}
