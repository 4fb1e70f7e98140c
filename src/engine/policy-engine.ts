/**
 * One policy, served and trained: the sampler keeps using published weights while the trainer changes
 * its own copy. The engine knows rows with weights and a loss name, and nothing of reinforcement learning.
 */
import type { LossSpec, OptimSpec } from "../core/loss/loss.ts";
import type { Sample, SampleRequest, Sampler } from "../core/policy.ts";
import type { TrainingRow } from "../core/loss/training-row.ts";
import type { Vocabulary } from "../core/vocabulary.ts";
import { defined } from "../util/defined.ts";
import { loadPolicyState, savePolicyState, type ModelOrigin } from "./checkpoint/policy-state.ts";
import { LogitRuleCompiler } from "./logit-rules/compiler.ts";
import type { ReadySchemas } from "./logit-rules/ready-schemas.ts";
import { loadPolicyModel, type PolicyModel } from "./model/policy-model.ts";
import type { MomentPrecision } from "./optimizer/moments.ts";
import type { Provider } from "./provider.ts";
import { BatchSampler } from "./sampling/batch-sampler.ts";
import type { SamplingPrecision } from "./sampling/sampling-session.ts";
import type { WhichWeights } from "./training/loaded-graphs.ts";
import { PolicyTrainer } from "./training/policy-trainer.ts";

export interface PolicyEngineOptions {
  /**
   * Threads inside one operation. Sampling from a small model uses one: it would spend more time waiting
   * than computing.
   */
  readonly threads: number;
  /** Memory for the activations of one training micro-batch. @default 1536 */
  readonly trainingMemoryMiB?: number;
  /** Memory for keys and values of sequences and prompts; see `BatchSamplerOptions`. @default a quarter of all */
  readonly cacheMemoryMiB?: number;
  /** The execution provider; operations that it lacks run on the CPU. @default "cpu" */
  readonly provider?: Provider;
  /** See `SamplingPrecision`; `int8` needs a LoRA adapter. @default "float32" */
  readonly samplingPrecision?: SamplingPrecision;
  /** Precision of AdamW's moments. @default "float32" */
  readonly momentPrecision?: MomentPrecision;
  /** The folder or file that the model was read from: its weights are the reference. */
  readonly modelPath?: string;
  /** What checkpoints need to be complete models. */
  readonly origin?: ModelOrigin;
}

/** Leaves room for the weights and the runtime in a 3 GiB process. */
export const defaultTrainingMemoryMiB = 1536;

/** Below it, handing a decoding step's products to a second thread costs more than it gains. */
const smallModelParameters = 20e6;

function countParameters(policy: PolicyModel): number {
  return policy.base.reduce((sum, { shape }) => sum + shape.reduce((n, dim) => n * dim, 1), 0);
}

export class PolicyEngine implements Sampler, AsyncDisposable {
  readonly #policy: PolicyModel;
  readonly #served: Map<string, Float32Array>;
  readonly #sampler: BatchSampler;
  readonly #rules: LogitRuleCompiler;
  readonly #trainer: PolicyTrainer;
  readonly #origin: ModelOrigin | null;
  #saving: Promise<void> = Promise.resolve();
  #weightVersion = 0;
  #trainingMs = 0;

  private constructor(
    policy: PolicyModel,
    served: Map<string, Float32Array>,
    sampler: BatchSampler,
    rules: LogitRuleCompiler,
    options: PolicyEngineOptions,
  ) {
    this.#policy = policy;
    this.#served = served;
    this.#sampler = sampler;
    this.#rules = rules;
    this.#origin = options.origin ?? null;
    const { modelPath, momentPrecision } = options;
    this.#trainer = new PolicyTrainer(policy, {
      threads: options.threads,
      memoryMiB: options.trainingMemoryMiB ?? defaultTrainingMemoryMiB,
      provider: options.provider ?? "cpu",
      rules,
      ...defined({ momentPrecision }),
      ...(modelPath === undefined
        ? {}
        : { loadReference: () => loadPolicyModel(modelPath, { lora: null, seed: 0 }) }),
    });
  }

  /** Owns `policy` from then on, also when it fails. */
  static async create(policy: PolicyModel, options: PolicyEngineOptions): Promise<PolicyEngine> {
    try {
      return await PolicyEngine.#open(policy, options);
    } catch (error) {
      policy.scratch?.[Symbol.dispose]();
      throw error;
    }
  }

  static async #open(policy: PolicyModel, options: PolicyEngineOptions): Promise<PolicyEngine> {
    const served = new Map(policy.data);
    for (const { name } of policy.trained) served.set(name, policy.data.get(name)!.slice());
    const rules = new LogitRuleCompiler(policy.config.vocabSize);
    const sampler = await BatchSampler.create(
      { ...policy, data: served },
      {
        rules,
        threads: countParameters(policy) < smallModelParameters ? 1 : options.threads,
        provider: options.provider ?? "cpu",
        ...(options.cacheMemoryMiB === undefined
          ? {}
          : { cacheBytes: options.cacheMemoryMiB * 2 ** 20 }),
        ...defined({ precision: options.samplingPrecision }),
      },
    );
    return new PolicyEngine(policy, served, sampler, rules, options);
  }

  get contextLength(): number {
    return this.#sampler.contextLength;
  }

  /** Since the start: tokens sampled, milliseconds of computing. */
  get totals(): { readonly tokens: number; readonly busyMs: number } {
    return {
      tokens: this.#sampler.totals.tokens,
      busyMs: this.#sampler.totals.busyMs + this.#trainingMs,
    };
  }

  /** V */
  get vocabularySize(): number {
    return this.#policy.config.vocabSize;
  }

  /** Schemas of rules to come, which need not be compiled in this thread. */
  addSchemas(schemas: ReadySchemas): void {
    this.#rules.add(schemas);
  }

  /** Bytes of the model's tokens, without which there are no grammars. */
  set vocabulary(vocabulary: Vocabulary) {
    this.#rules.vocabulary = vocabulary;
  }

  sample(request: SampleRequest): Promise<readonly Sample[]> {
    return this.#sampler.sample(request);
  }

  async #timed<T>(work: () => T | Promise<T>): Promise<T> {
    const start = performance.now();
    try {
      return await work();
    } finally {
      this.#trainingMs += performance.now() - start;
    }
  }

  forward(rows: readonly TrainingRow[], which: WhichWeights = "current"): Promise<Float32Array[]> {
    return this.#timed(() => this.#trainer.forward(rows, which));
  }

  /** @see PolicyTrainer.entropies */
  entropies(rows: readonly TrainingRow[]): Promise<Float32Array[]> {
    return this.#timed(() => this.#trainer.entropies(rows));
  }

  forwardBackward(rows: readonly TrainingRow[], loss: LossSpec): Promise<Record<string, number>> {
    return this.#timed(() => this.#trainer.forwardBackward(rows, loss));
  }

  /** A step that comes while weights are saved waits: the saved moments must belong to the saved weights. */
  async optimStep(
    optim: OptimSpec,
    before?: (metrics: Readonly<Record<string, number>>) => void,
  ): Promise<Record<string, number>> {
    await this.#saving;
    return this.#timed(() => this.#trainer.optimStep(optim, before));
  }

  /** Serves the trained weights from the next step on; resolves with their version. */
  async publish(version: number = this.#weightVersion + 1): Promise<number> {
    await this.#sampler.swapWeights(() => {
      for (const { name } of this.#policy.trained)
        this.#served.get(name)!.set(this.#policy.data.get(name)!);
    }, version);
    this.#weightVersion = version;
    return version;
  }

  save(folder: string): Promise<void> {
    const saving = savePolicyState(this.#policy, this.#trainer.adam, this.#origin, folder);
    this.#saving = saving.catch(() => {});
    return saving;
  }

  /** Restores what `save` wrote and serves it as `version`. @throws CheckpointError */
  async load(folder: string, version: number): Promise<void> {
    await loadPolicyState(this.#policy, this.#trainer.adam, folder);
    await this.publish(version);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#sampler.close(), this.#trainer.close()]);
    this.#policy.scratch?.[Symbol.dispose]();
  }
}
