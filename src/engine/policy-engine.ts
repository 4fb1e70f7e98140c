/**
 * One policy, served and trained: the sampler keeps using published weights while the trainer changes
 * its own copy. The engine knows rows with weights and a loss name, and nothing of reinforcement learning.
 */
import type { WhichWeights } from "../core/backend.ts";
import type { LossSpec, OptimSpec } from "../core/loss/loss.ts";
import type { Sample, SampleRequest, Sampler } from "../core/policy.ts";
import type { TrainingRow } from "../core/loss/training-row.ts";
import type { Vocabulary } from "../core/vocabulary.ts";
import { defined } from "../util/defined.ts";
import { readCritic, saveCritic } from "./checkpoint/critic-state.ts";
import { loadPolicyState, savePolicyState, type ModelOrigin } from "./checkpoint/policy-state.ts";
import { loadPolicy, sharedDecoder, writeTrained, type Policy } from "./decoder/policy.ts";
import { PolicyTrainer } from "./training/trainer.ts";
import type { DecoderWeights } from "./decoder/weights.ts";
import { BatchSampler } from "./generation/batch-sampler.ts";
import { LogitRuleCompiler } from "./logit-rules/compiler.ts";
import type { ReadySchemas } from "./logit-rules/ready-schemas.ts";
import type { MomentPrecision } from "./optimizer/moments.ts";

export interface PolicyEngineOptions {
  /** Memory for the activations of one training micro-batch. @default 1536 */
  readonly trainingMemoryMiB?: number;
  /** Memory for keys and values; see `BatchSamplerOptions`. @default a quarter of all */
  readonly cacheMemoryMiB?: number;
  /** Precision of AdamW's moments. @default "float32" */
  readonly momentPrecision?: MomentPrecision;
  /** @see PolicyTrainer */
  readonly averageDecay?: number;
  /** The folder or file that the model was read from: its weights are the reference. */
  readonly modelPath?: string;
  /** What checkpoints need to be complete models. */
  readonly origin?: ModelOrigin;
}

/** Leaves room for the weights in a 3 GiB process. */
export const defaultTrainingMemoryMiB = 1536;

export class PolicyEngine implements Sampler, AsyncDisposable {
  readonly #policy: Policy;
  readonly #served: DecoderWeights;
  readonly #sampler: BatchSampler;
  readonly #rules: LogitRuleCompiler;
  readonly #trainer: PolicyTrainer;
  readonly #origin: ModelOrigin | null;
  #weightVersion = 0;
  #trainingMs = 0;

  private constructor(policy: Policy, served: DecoderWeights, options: PolicyEngineOptions) {
    const { averageDecay, cacheMemoryMiB, modelPath, momentPrecision } = options;
    this.#policy = policy;
    this.#served = served;
    this.#origin = options.origin ?? null;
    this.#rules = new LogitRuleCompiler(policy.config.vocabSize);
    this.#sampler = new BatchSampler(served, {
      rules: this.#rules,
      ...(cacheMemoryMiB === undefined ? {} : { cacheBytes: cacheMemoryMiB * 2 ** 20 }),
    });
    this.#trainer = new PolicyTrainer(policy, {
      memoryMiB: options.trainingMemoryMiB ?? defaultTrainingMemoryMiB,
      rules: this.#rules,
      ...defined({ averageDecay, momentPrecision }),
      ...(modelPath === undefined ? {} : { loadReference: () => loadReference(policy, modelPath) }),
    });
  }

  /** Owns `policy` from then on. */
  static async create(policy: Policy, options: PolicyEngineOptions = {}): Promise<PolicyEngine> {
    const served = sharedDecoder(policy, policy.lora);
    await writeTrained(policy, served);
    return new PolicyEngine(policy, served, options);
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

  /** @see PolicyTrainer.values */
  values(rows: readonly TrainingRow[]): Promise<Float32Array[]> {
    return this.#timed(() => this.#trainer.values(rows));
  }

  forwardBackward(rows: readonly TrainingRow[], loss: LossSpec): Promise<Record<string, number>> {
    return this.#timed(() => this.#trainer.forwardBackward(rows, loss));
  }

  optimStep(
    optim: OptimSpec,
    before?: (metrics: Readonly<Record<string, number>>) => void,
  ): Promise<Record<string, number>> {
    return this.#timed(() => this.#trainer.optimStep(optim, before));
  }

  /** Serves the trained weights from the next step on; resolves with their version. */
  async publish(version: number = this.#weightVersion + 1): Promise<number> {
    const write = (): Promise<void> => writeTrained(this.#policy, this.#served);
    await this.#trainer.exclusively(() => this.#sampler.swapWeights(write, version));
    this.#weightVersion = version;
    return version;
  }

  /** A step that comes meanwhile waits: the saved moments must belong to the saved weights. */
  save(folder: string): Promise<void> {
    return this.#trainer.exclusively(async () => {
      const { madeCritic } = this.#trainer;
      await savePolicyState(this.#policy, this.#trainer, this.#origin, folder);
      if (madeCritic !== null) await saveCritic(madeCritic, folder);
    });
  }

  /** Restores what `save` wrote and serves it as `version`. @throws CheckpointError */
  async load(folder: string, version: number): Promise<void> {
    await this.#trainer.exclusively(async () => {
      const critic = await readCritic(folder, this.#policy.device, this.#policy.config.hiddenSize);
      await loadPolicyState(this.#policy, this.#trainer, folder);
      this.#trainer.restoreCritic(critic);
      await writeTrained(this.#policy, this.#policy.weights);
    });
    await this.publish(version);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#sampler.close();
  }
}

/** The weights as published, where every one of them is trained. */
async function loadReference({ device, precision }: Policy, path: string): Promise<DecoderWeights> {
  const options = { device, precision, lora: null, isFrozen: true, seed: 0 };
  return (await loadPolicy(path, options)).weights;
}
