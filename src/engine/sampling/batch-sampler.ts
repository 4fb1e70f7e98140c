/**
 * Continuous batching: requests join and leave between steps. Every sample is a function of the
 * request's seed and the sequence's own numbers, so results are batch-invariant.
 * Knows token ids only, no text.
 */
import { ContextOverflowError } from "../../core/errors.ts";
import type { Sample, SampleRequest, Sampler } from "../../core/policy.ts";
import { memoryLimit } from "../../util/memory-limit.ts";
import { LogitRuleCompiler, type CompiledRules } from "../logit-rules/compiler.ts";
import type { ModelConfig } from "../model/model-config.ts";
import type { PolicyModel } from "../model/policy-model.ts";
import type { Provider } from "../provider.ts";
import { checkPromptIds } from "../token-ids.ts";
import { Admission } from "./admission.ts";
import type { DecodeBucket } from "./decode-bucket.ts";
import { bucketLength, DecodeBuckets } from "./decode-buckets.ts";
import { areNumbers, notNumbers } from "./not-numbers.ts";
import { sampleToken, type SampledToken } from "./sample-token.ts";
import { Prefill, type Prefilled } from "./prefill.ts";
import { PrefixTree } from "./prefix-tree.ts";
import { SamplingSession, type SamplingPrecision } from "./sampling-session.ts";
import {
  sampledAlready,
  finishSequence,
  newSequence,
  recordToken,
  type QueuedRequest,
  type Sequence,
} from "./sequence.ts";
import { stepSequences, type StepRow } from "./step-sequences.ts";

export interface BatchSamplerOptions {
  readonly threads: number;
  /** @default "cpu" */
  readonly provider?: Provider;
  /** @default "float32" */
  readonly precision?: SamplingPrecision;
  /** Sequences decoded at once; others wait in a queue. @default 128 */
  readonly maxSequences?: number;
  /**
   * Bytes of keys and values: four fifths for running sequences, beyond which the youngest
   * are preempted, and a fifth for prompts. Arrays that grow take up to twice as much for a while.
   * @default a quarter of the memory
   */
  readonly cacheBytes?: number;
  /** Compiles `SamplingParams.rules`. @default one without a vocabulary, which knows no grammars */
  readonly rules?: LogitRuleCompiler;
}

const memoryFraction = 1 / 4;
const promptFraction = 1 / 5;

/** Time between two tokens of a sequence that prompts may use. */
const maxPauseMs = 1000;

export class BatchSampler implements Sampler {
  readonly contextLength: number;
  readonly #config: ModelConfig;
  readonly #session: SamplingSession;
  readonly #rules: LogitRuleCompiler;
  readonly #tree: PrefixTree;
  readonly #prefill: Prefill<Sequence>;
  readonly #admission: Admission;
  readonly #queue: QueuedRequest[] = [];
  readonly #betweenSteps: (() => void)[] = [];
  readonly #buckets: DecodeBuckets<Sequence>;
  #begun = 0;
  #lastStep = 0;
  /** A sequence was dropped because its numbers were NaN. */
  #hasDiverged = false;
  #working = false;
  #weightVersion = 0;
  /** Tokens sampled, milliseconds of computing, and sequences that were preempted, since the start. */
  readonly totals = { tokens: 0, busyMs: 0, preempted: 0 };

  private constructor(policy: PolicyModel, session: SamplingSession, options: BatchSamplerOptions) {
    this.#config = policy.config;
    this.contextLength = policy.config.contextLength;
    this.#session = session;
    this.#rules = options.rules ?? new LogitRuleCompiler(policy.config.vocabSize);
    const bytes = options.cacheBytes ?? memoryFraction * memoryLimit();
    const sequenceBytes = (1 - promptFraction) * bytes;
    this.#admission = new Admission(policy.config, {
      sequences: options.maxSequences ?? 128,
      bytes: sequenceBytes,
    });
    this.#tree = new PrefixTree(promptFraction * bytes);
    this.#prefill = new Prefill(this.#tree, session, policy.config);
    this.#buckets = new DecodeBuckets(policy.config, {
      expectedSequences: () => this.#admission.runningCount,
      maxBytes: sequenceBytes,
    });
  }

  /** `policy.data` is what is sampled from: change it only inside `swapWeights`. */
  static async create(policy: PolicyModel, options: BatchSamplerOptions): Promise<BatchSampler> {
    return new BatchSampler(
      policy,
      await SamplingSession.create(policy, options.threads, options.precision, options.provider),
      options,
    );
  }

  /** Bytes of keys and values that are allocated for running sequences. */
  get allocatedBytes(): number {
    return this.#buckets.bytes;
  }

  sample(request: SampleRequest): Promise<readonly Sample[]> {
    const { tokens } = request;
    if (tokens.length === 0)
      return Promise.reject(new RangeError("A prompt needs at least one token."));
    if (tokens.length >= this.contextLength) {
      return Promise.reject(new ContextOverflowError(tokens.length, this.contextLength));
    }
    let rules: CompiledRules | null;
    try {
      checkPromptIds(tokens, this.#config.vocabSize);
      // What cannot be compiled fails here, and not in the batch.
      rules = request.params.rules === undefined ? null : this.#rules.compile(request.params.rules);
      rules?.start(request.params);
    } catch (error) {
      return Promise.reject(error);
    }
    return new Promise((resolve, reject) => {
      const n = request.n ?? 1;
      const results: (Sample | undefined)[] = Array.from({ length: n });
      const weightVersion = this.#weightVersion;
      const begun = 0;
      const own = { request, rules, n, weightVersion, begun };
      this.#queue.push({ ...own, results, open: n, resolve, reject });
      void this.#work();
    });
  }

  /**
   * Runs `change` between two steps, then serves the result as `version`. Rejects with what `change`
   * throws.
   */
  swapWeights(change: () => void, version: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#betweenSteps.push(() => {
        try {
          change();
        } catch (error) {
          reject(error);
          return;
        }
        this.#tree.clear();
        this.#prefill.restart();
        // A mask hides numbers that were left behind, but not what is no number.
        if (this.#hasDiverged) this.#buckets.dropEmpty();
        this.#hasDiverged = false;
        this.#weightVersion = version;
        resolve();
      });
      void this.#work();
    });
  }

  get #isIdle(): boolean {
    return this.#queue.length + this.#betweenSteps.length + this.#admission.all.length === 0;
  }

  /**
   * Steps with few sequences are inefficient: most prompts come first, as long as the others need not wait
   * long.
   */
  get #isDecodingNext(): boolean {
    const prompts = this.#prefill.waiting.length;
    const decoding = this.#admission.runningCount - prompts;
    return decoding >= prompts || performance.now() - this.#lastStep > maxPauseMs;
  }

  async #decode(): Promise<void> {
    for (const bucket of this.#buckets) await this.#advance(bucket);
    this.#lastStep = performance.now();
  }

  async #work(): Promise<void> {
    if (this.#working) return;
    this.#working = true;
    while (!this.#isIdle) {
      // Lets new requests and cancellations in.
      await new Promise((resolve) => setImmediate(resolve));
      const start = performance.now();
      try {
        await this.#turn();
      } catch (error) {
        this.#failAll(error);
      }
      this.totals.busyMs += performance.now() - start;
    }
    this.#working = false;
  }

  async #turn(): Promise<void> {
    for (const change of this.#betweenSteps.splice(0)) change();
    this.#dropAborted();
    this.#admit();
    if (this.#admission.runningCount === this.#prefill.waiting.length)
      this.#lastStep = performance.now();
    const { completed, failed } = await this.#prefill.advance();
    for (const { request, error } of failed) this.#fail(request.request, error);
    for (const ready of completed) this.#begin(ready);
    if (this.#isDecodingNext) await this.#decode();
    this.#buckets.trim();
  }

  /** Ends only this request: the numbers of others never depend on it. */
  #fail(queued: QueuedRequest, error: unknown): void {
    const place = this.#queue.indexOf(queued);
    if (place >= 0) this.#queue.splice(place, 1);
    for (const sequence of this.#admission.all) {
      if (sequence.request !== queued) continue;
      this.#admission.remove(sequence);
      this.#stop(sequence);
    }
    queued.reject(error);
  }

  #failAll(error: unknown): void {
    const failed = new Set(this.#queue.splice(0));
    for (const { request } of this.#admission.all) failed.add(request);
    for (const sequence of this.#prefill.waiting) this.#prefill.remove(sequence);
    this.#buckets.clear();
    this.#admission.clear();
    for (const { reject } of failed) reject(error);
  }

  #dropAborted(): void {
    const isAborted = ({ request }: QueuedRequest): boolean => request.signal?.aborted === true;
    // Of a queued request, none or some sequences have started: the others start now, to end at once.
    for (const queued of this.#queue.filter(isAborted)) {
      this.#queue.splice(this.#queue.indexOf(queued), 1);
      while (queued.begun < queued.n) finishSequence(this.#next(queued), "aborted");
    }
    for (const sequence of this.#admission.all) {
      if (!isAborted(sequence.request)) continue;
      this.#admission.remove(sequence);
      this.#stop(sequence);
      finishSequence(sequence, "aborted");
    }
  }

  #next(queued: QueuedRequest): Sequence {
    const { params } = queued.request;
    const rules = queued.rules?.start(params) ?? null;
    return newSequence(queued, this.#begun++, this.contextLength, rules);
  }

  /** Removes it from wherever it is being processed. */
  #stop(sequence: Sequence): void {
    this.#prefill.remove(sequence);
    this.#buckets.remove(sequence);
  }

  #admit(): void {
    for (const sequence of this.#admission.takeBack()) this.#start(sequence);
    while (this.#queue.length > 0) {
      const queued = this.#queue[0]!;
      if (!this.#admission.admitsNew(queued.request.tokens.length)) return;
      const sequence = this.#next(queued);
      this.#admission.add(sequence);
      this.#start(sequence);
      if (queued.begun === queued.n) this.#queue.shift();
    }
  }

  #start(sequence: Sequence): void {
    this.#prefill.add(sequence, sequence.request.request.tokens);
  }

  #begin({ request: sequence, node }: Prefilled<Sequence>): void {
    // Its request may have failed with another of its sequences.
    if (!this.#admission.isRunning(sequence)) return;
    try {
      if (!this.#resume(sequence, node.probabilities)) this.#buckets.addFromPrompt(sequence, node);
    } catch (error) {
      this.#fail(sequence.request, error);
    }
  }

  async #advance(bucket: DecodeBucket<Sequence>): Promise<void> {
    if (bucket.sequences.length === 0) return;
    const rows = await stepSequences(bucket, this.#session, this.#config.vocabSize);
    const failed = new Map<QueuedRequest, unknown>();
    for (let i = bucket.sequences.length - 1; i >= 0; i--) {
      const sequence = bucket.sequences[i]!;
      try {
        if (this.#follow(sequence, rows[i]!)) bucket.remove(i);
      } catch (error) {
        // At once: another sequence that ends would move it, and leave a copy behind.
        bucket.discard(i);
        failed.set(sequence.request, error);
      }
    }
    for (const [queued, error] of failed) this.#fail(queued, error);
    this.#makeRoom();
    for (let i = bucket.sequences.length - 1; i >= 0; i--)
      if (bucketLength(bucket.sequences[i]!.cached) > bucket.cachedTokens)
        this.#buckets.moveOn(bucket, i);
  }

  /** @returns whether the sequence has ended. @throws where it cannot continue. */
  #follow(sequence: Sequence, row: StepRow): boolean {
    if ("error" in row) throw row.error;
    if (row.picked === null) return this.#resume(sequence, row.probabilities);
    return this.#record(sequence, row.picked);
  }

  /** The youngest are preempted in favor of those that have outgrown their length bucket. */
  #makeRoom(): void {
    for (const sequence of this.#admission.park()) {
      this.#stop(sequence);
      sequence.cached = sequence.promptTokens;
      this.totals.preempted += 1;
    }
  }

  /**
   * Its next token: sampled, or the one that it sampled before it was preempted.
   * @returns whether it has ended.
   */
  #resume(sequence: Sequence, probabilities: Float32Array): boolean {
    const known = sampledAlready(sequence);
    if (known !== undefined) {
      sequence.pending = known;
      return false;
    }
    if (!areNumbers(probabilities)) throw this.#diverged(sequence);
    const { params } = sequence.request.request;
    const allowed = sequence.rules?.apply(probabilities) ?? probabilities;
    return this.#record(sequence, sampleToken(allowed, params, sequence.uniform()));
  }

  #record(sequence: Sequence, picked: SampledToken): boolean {
    if (!Number.isFinite(picked.logprob)) throw this.#diverged(sequence);
    this.totals.tokens += 1;
    const stopReason = recordToken(sequence, picked, this.#weightVersion);
    if (stopReason === null) return false;
    this.#admission.remove(sequence);
    finishSequence(sequence, stopReason);
    return true;
  }

  #diverged({ tokens }: Sequence): Error {
    this.#hasDiverged = true;
    return notNumbers(`after ${tokens.length} sampled tokens`);
  }

  close(): Promise<void> {
    return this.#session.close();
  }
}
