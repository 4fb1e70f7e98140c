/**
 * One policy, served and trained: the sampler keeps using published weights while the trainer changes
 * its own copy. With further adapters it is several policies on one base, sampled in one batch and each trained by its
 * own rows. The engine knows rows with weights and a loss name, and nothing of reinforcement learning.
 */
import { defaultAdapter } from "../core/adapter-names.ts";
import type { WhichWeights } from "../core/backend.ts";
import { AgentTrainerError } from "../core/errors.ts";
import { joinUpdates, optimOfAdapter, rowsByAdapter } from "../core/loss/adapter-updates.ts";
import type { LossSpec, OptimSpec } from "../core/loss/loss.ts";
import type { Sample, SampleRequest, Sampler } from "../core/policy.ts";
import type { TrainingRow } from "../core/loss/training-row.ts";
import type { Vocabulary } from "../core/vocabulary.ts";
import { defined } from "../util/defined.ts";
import { readParts, saveParts } from "./checkpoint/parts-state.ts";
import type { ModelOrigin } from "./checkpoint/policy-state.ts";
import {
  initialFactors,
  loadPolicy,
  sharedDecoder,
  withNewAdapter,
  writeTrained,
  type Policy,
} from "./decoder/policy.ts";
import { TrainingRoom } from "./training/row-passes.ts";
import { PolicyTrainer, type TrainerOptions } from "./training/trainer.ts";
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
  /** The folder or file that the model was read from: its weights are the reference. */
  readonly modelPath?: string;
  /** What checkpoints need to be complete models. */
  readonly origin?: ModelOrigin;
  /** Adapters besides that of the policy, of the same shape; initial factors derive from the seeds. @default none */
  readonly adapters?: readonly { readonly name: string; readonly seed: number }[];
}

/** Leaves room for the weights in a 3 GiB process. */
export const defaultTrainingMemoryMiB = 1536;

/** An adapter, or all weights: what is trained, published and saved by itself. */
interface Part {
  readonly policy: Policy;
  readonly served: DecoderWeights;
  readonly trainer: PolicyTrainer;
}

/** Called before a step with what it will report; when it throws, nothing changes. */
type BeforeStep = (metrics: Readonly<Record<string, number>>) => void;

export class PolicyEngine implements Sampler, AsyncDisposable {
  readonly #policy: Policy;
  /** By adapter; the policy's own comes first. */
  readonly #parts: ReadonlyMap<string, Part>;
  readonly #sampler: BatchSampler;
  readonly #rules: LogitRuleCompiler;
  readonly #origin: ModelOrigin | null;
  readonly #room: TrainingRoom;
  #weightVersion = 0;
  #trainingMs = 0;

  private constructor(
    policies: ReadonlyMap<string, Pick<Part, "policy" | "served">>,
    options: PolicyEngineOptions,
  ) {
    const { cacheMemoryMiB, modelPath, momentPrecision } = options;
    const { policy, served } = policies.get(defaultAdapter)!;
    this.#policy = policy;
    this.#origin = options.origin ?? null;
    this.#rules = new LogitRuleCompiler(policy.config.vocabSize);
    this.#room = new TrainingRoom(policy.device);
    const adapters = new Map<string | null, DecoderWeights>(
      Array.from(policies, ([name, part]) => [name, part.served]),
    );
    this.#sampler = new BatchSampler(served, {
      rules: this.#rules,
      ...(cacheMemoryMiB === undefined ? {} : { cacheBytes: cacheMemoryMiB * 2 ** 20 }),
      ...(policy.lora === null
        ? {}
        : { adapters: adapters.set(null, sharedDecoder(policy, null)) }),
    });
    const trainerOptions: TrainerOptions = {
      memoryMiB: options.trainingMemoryMiB ?? defaultTrainingMemoryMiB,
      rules: this.#rules,
      room: this.#room,
      ...defined({ momentPrecision }),
      ...(modelPath === undefined ? {} : { loadReference: () => loadReference(policy, modelPath) }),
    };
    this.#parts = new Map(
      Array.from(policies, ([name, part]) => [
        name,
        { ...part, trainer: new PolicyTrainer(part.policy, trainerOptions) },
      ]),
    );
  }

  /** Owns `policy` from then on. */
  static async create(policy: Policy, options: PolicyEngineOptions = {}): Promise<PolicyEngine> {
    const policies = new Map([[defaultAdapter, policy]]);
    for (const { name, seed } of options.adapters ?? [])
      policies.set(name, await seededAdapter(policy, seed));
    const parts = new Map<string, Pick<Part, "policy" | "served">>();
    for (const [name, own] of policies) {
      const served = sharedDecoder(own, own.lora);
      await writeTrained(own, served);
      parts.set(name, { policy: own, served });
    }
    return new PolicyEngine(parts, options);
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

  #partOf(adapter: string): Part {
    const part = this.#parts.get(adapter);
    if (part !== undefined) return part;
    throw new AgentTrainerError({
      code: "REQUEST_INVALID",
      message: `A row trains the adapter ${JSON.stringify(adapter)}, which the model does not have.`,
      fields: { adapter },
    });
  }

  /** `of` the rows of each adapter, in the order of `rows`. */
  async #perRow<T>(
    rows: readonly TrainingRow[],
    of: (trainer: PolicyTrainer, own: readonly TrainingRow[]) => Promise<T[]>,
  ): Promise<T[]> {
    const found: T[] = [];
    for (const [adapter, places] of rowsByAdapter(rows)) {
      const own = await of(
        this.#partOf(adapter).trainer,
        places.map((place) => rows[place]!),
      );
      for (const [i, place] of places.entries()) found[place] = own[i]!;
    }
    return found;
  }

  forward(rows: readonly TrainingRow[], which: WhichWeights = "current"): Promise<Float32Array[]> {
    return this.#timed(() => this.#perRow(rows, (trainer, own) => trainer.forward(own, which)));
  }

  /** @see PolicyTrainer.entropies */
  entropies(rows: readonly TrainingRow[]): Promise<Float32Array[]> {
    return this.#timed(() => this.#perRow(rows, (trainer, own) => trainer.entropies(own)));
  }

  /** @see PolicyTrainer.values */
  values(rows: readonly TrainingRow[]): Promise<Float32Array[]> {
    return this.#timed(() => this.#perRow(rows, (trainer, own) => trainer.values(own)));
  }

  /** Of the policy's own adapter. */
  forwardBackward(rows: readonly TrainingRow[], loss: LossSpec): Promise<Record<string, number>> {
    this.#sampler.giveBackMemory();
    return this.#timed(() => this.#partOf(defaultAdapter).trainer.forwardBackward(rows, loss));
  }

  /** Of the policy's own adapter. */
  optimStep(optim: OptimSpec, before?: BeforeStep): Promise<Record<string, number>> {
    return this.#timed(() => this.#partOf(defaultAdapter).trainer.optimStep(optim, before));
  }

  /**
   * One optimizer step of each adapter that has rows, on the loss over those; all of them or none.
   * @param before for each adapter
   * @throws NumericsError when a loss or a gradient is not finite, and what `before` throws
   */
  update(
    rows: readonly TrainingRow[],
    loss: LossSpec,
    optim: OptimSpec,
    before?: BeforeStep,
  ): Promise<Record<string, number>> {
    this.#sampler.giveBackMemory();
    return this.#timed(async () => {
      const parts = Array.from(rowsByAdapter(rows), ([name, places]) => ({
        name,
        trainer: this.#partOf(name).trainer,
        rows: places.map((place) => rows[place]!),
      }));
      const metrics = new Map<string, Record<string, number>>();
      try {
        for (const { name, trainer, rows: own } of parts)
          metrics.set(name, await trainer.forwardBackward(own, loss));
        // Before any of them steps, each says whether it can.
        for (const { name, trainer } of parts)
          await trainer.checkStep((measured) => before?.({ ...metrics.get(name), ...measured }));
        for (const { name, trainer } of parts)
          Object.assign(metrics.get(name)!, await trainer.optimStep(optimOfAdapter(optim, name)));
      } finally {
        for (const { trainer } of parts) await trainer.dropGradients();
      }
      return this.#parts.size === 1 ? (metrics.get(defaultAdapter) ?? {}) : joinUpdates(metrics);
    });
  }

  /** Serves the trained weights from the next step on; resolves with their version. */
  async publish(version: number = this.#weightVersion + 1): Promise<number> {
    const write = async (): Promise<void> => {
      for (const { policy, served } of this.#parts.values()) await writeTrained(policy, served);
    };
    await this.#exclusively(() => this.#sampler.swapWeights(write, version));
    this.#weightVersion = version;
    return version;
  }

  #exclusively<T>(work: () => Promise<T>): Promise<T> {
    return this.#room.turns.run(work);
  }

  /**
   * Writes the policy's own adapter into `folder`, and each other one into a folder in it, as PEFT does. A step that
   * comes meanwhile waits: the saved moments must belong to the saved weights.
   */
  save(folder: string): Promise<void> {
    return this.#exclusively(() => saveParts(this.#parts, this.#origin, folder));
  }

  /** Restores what `save` wrote and serves it as `version`. @throws CheckpointError; nothing has changed then */
  async load(folder: string, version: number): Promise<void> {
    await this.#exclusively(async () => {
      const take = await readParts(this.#parts, folder);
      take();
      for (const { policy } of this.#parts.values()) await writeTrained(policy, policy.weights);
    });
    await this.publish(version);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#sampler.close();
  }
}

async function seededAdapter(policy: Policy, seed: number): Promise<Policy> {
  if (policy.lora === null)
    throw new RangeError("A model whose every weight is trained has no adapters.");
  const own = withNewAdapter(policy, policy.lora);
  for (const [name, values] of initialFactors(own.loraParameters, seed))
    own.data.get(name)!.set(values);
  await writeTrained(own, own.weights);
  return own;
}

/** The weights as published, where every one of them is trained. */
async function loadReference({ device, precision }: Policy, path: string): Promise<DecoderWeights> {
  const options = { device, precision, lora: null, isFrozen: true, seed: 0 };
  return (await loadPolicy(path, options)).weights;
}
