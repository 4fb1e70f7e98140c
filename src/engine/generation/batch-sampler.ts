/**
 * Continuous batching: requests join and leave between steps. Every sample is a function of the request's seed and the
 * sequence's own numbers, so results do not depend on what else is running. Knows token ids only, no text.
 */
import { AgentTrainerError, ContextOverflowError } from "../../core/errors.ts";
import type { Sample, SampleRequest, Sampler } from "../../core/policy.ts";
import { memoryLimit } from "../../util/memory-limit.ts";
import type { DecoderWeights } from "../decoder/weights.ts";
import { LogitRuleCompiler, type CompiledRules } from "../logit-rules/compiler.ts";
import { noTokenLeft } from "../logit-rules/not-enforced.ts";
import { notNumbers } from "./not-numbers.ts";
import {
  finishSequence,
  isTempered,
  newSequence,
  recordToken,
  type QueuedRequest,
} from "./sequence.ts";
import { checkPromptIds } from "../token-ids.ts";
import { BlockCache } from "./block-cache.ts";
import { GenerationStep, type StepResult, type StepSample } from "./generation-step.ts";
import { tokensOf, type RunningSequence } from "./running-sequence.ts";
import { Scheduler } from "./scheduler.ts";

export interface BatchSamplerOptions {
  /** Sequences sampled at once; others wait in a queue. @default 128 */
  readonly maxSequences?: number;
  /**
   * Bytes of keys and values, beyond which the youngest sequences wait. @default a quarter of the memory
   */
  readonly cacheBytes?: number;
  /** Compiles `SamplingParams.rules`. @default one without a vocabulary, which knows no grammars */
  readonly rules?: LogitRuleCompiler;
  /**
   * What `SampleRequest.adapter` names, by name, and null for the base: decoders on the same base, which run in one
   * batch. @default none
   */
  readonly adapters?: ReadonlyMap<string | null, DecoderWeights>;
}

const memoryFraction = 1 / 4;

export class BatchSampler implements Sampler {
  readonly contextLength: number;
  readonly #vocabSize: number;
  readonly #weights: DecoderWeights;
  readonly #adapters: ReadonlyMap<string | null, DecoderWeights>;
  readonly #rules: LogitRuleCompiler;
  readonly #step: GenerationStep;
  readonly #cache: BlockCache;
  readonly #scheduler: Scheduler;
  readonly #queue: QueuedRequest[] = [];
  readonly #betweenSteps: (() => Promise<void>)[] = [];
  #begun = 0;
  #working = false;
  #isClosed = false;
  #turns: Promise<void> = Promise.resolve();
  #weightVersion = 0;
  readonly #totals = { tokens: 0, busyMs: 0 };

  /** `weights` are sampled from: change them only inside `swapWeights`. */
  constructor(weights: DecoderWeights, options: BatchSamplerOptions = {}) {
    const { config, device } = weights;
    this.contextLength = config.contextLength;
    this.#vocabSize = config.vocabSize;
    this.#weights = weights;
    this.#adapters = options.adapters ?? new Map();
    this.#rules = options.rules ?? new LogitRuleCompiler(config.vocabSize);
    this.#step = new GenerationStep(weights);
    this.#cache = new BlockCache(
      device,
      config,
      options.cacheBytes ?? memoryFraction * memoryLimit(),
    );
    this.#scheduler = new Scheduler(this.#cache, options.maxSequences ?? 128);
  }

  /** Tokens sampled, milliseconds of computing, and sequences that were preempted, since the start. */
  get totals(): { readonly tokens: number; readonly busyMs: number; readonly preempted: number } {
    return { ...this.#totals, preempted: this.#scheduler.preempted };
  }

  /** Bytes of keys and values that are allocated. */
  get allocatedBytes(): number {
    return this.#cache.allocatedBytes;
  }

  /**
   * Gives the memory of keys and values back where no request is open and it is more than `keptBytes`: an update needs
   * it, and after one they would be those of other weights.
   */
  giveBackMemory(keptBytes: number = 256 * 2 ** 20): void {
    if (this.#working || this.#queue.length > 0 || this.allocatedBytes <= keptBytes) return;
    this.#cache.giveBack();
  }

  sample(request: SampleRequest): Promise<readonly Sample[]> {
    if (this.#isClosed) return Promise.reject(closed());
    const { tokens } = request;
    if (tokens.length === 0)
      return Promise.reject(new RangeError("A prompt needs at least one token."));
    if (tokens.length >= this.contextLength)
      return Promise.reject(new ContextOverflowError(tokens.length, this.contextLength));
    let rules: CompiledRules | null;
    let neededTokens: number | null;
    let weights: DecoderWeights;
    try {
      weights = this.#weightsOf(request);
      checkPromptIds(tokens, this.#vocabSize);
      // What cannot be compiled fails here, and not in the batch.
      rules = request.params.rules === undefined ? null : this.#rules.compile(request.params.rules);
      neededTokens = rules?.start(request.params).neededTokens ?? null;
    } catch (error) {
      return Promise.reject(error);
    }
    return new Promise((resolve, reject) => {
      const n = request.n ?? 1;
      const results: (Sample | undefined)[] = Array.from({ length: n });
      const own = { request, weights, rules, neededTokens, n, begun: 0 };
      this.#queue.push({
        ...own,
        weightVersion: this.#weightVersion,
        results,
        open: n,
        resolve,
        reject,
      });
      this.#work();
    });
  }

  #weightsOf({ adapter }: SampleRequest): DecoderWeights {
    if (adapter === undefined) return this.#weights;
    const found = this.#adapters.get(adapter);
    if (found !== undefined) return found;
    throw new AgentTrainerError({
      code: "REQUEST_INVALID",
      message: `The model has no adapter ${JSON.stringify(adapter)}.`,
      fields: { adapter },
    });
  }

  /** Runs `change` between two steps, then serves the result as `version`. Rejects with what `change` throws. */
  swapWeights(change: () => void | Promise<void>, version: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#betweenSteps.push(async () => {
        try {
          await change();
        } catch (error) {
          reject(error);
          return;
        }
        this.#scheduler.forgetShared();
        this.#weightVersion = version;
        resolve();
      });
      this.#work();
    });
  }

  get #isIdle(): boolean {
    const { open } = this.#scheduler;
    return this.#queue.length + this.#betweenSteps.length + open.length === 0;
  }

  #work(): void {
    if (this.#working) return;
    this.#working = true;
    this.#turns = this.#takeTurns();
  }

  async #takeTurns(): Promise<void> {
    while (!this.#isIdle) {
      // Lets new requests and cancellations in.
      await new Promise((resolve) => setImmediate(resolve));
      const start = performance.now();
      try {
        await this.#turn();
      } catch (error) {
        this.#failAll(error);
      }
      this.#totals.busyMs += performance.now() - start;
    }
    this.#working = false;
  }

  async #turn(): Promise<void> {
    for (const change of this.#betweenSteps.splice(0)) await change();
    this.#dropAborted();
    this.#scheduler.admit(this.#queue, (queued) => this.#next(queued));
    const plan = this.#scheduler.plan();
    const { parts, sequences } = plan;
    if (parts.length === 0) return;
    const through = sequences.flatMap((sequence, part) =>
      parts[part]!.end === tokensOf(sequence).length ? [{ sequence, part }] : [],
    );
    const chosen = through.flatMap(({ sequence, part }) =>
      [sequence, ...this.#scheduler.followersOf(sequence)].map((own) => ({
        sequence: own,
        leader: sequence,
        part,
      })),
    );
    const sampled: { sequence: RunningSequence; sample: StepSample }[] = [];
    for (const { sequence, part } of chosen) {
      const sample = this.#sampleOf(sequence, part);
      if (sample !== null) sampled.push({ sequence, sample });
    }
    const start = performance.now();
    const results = await this.#step.run(
      parts,
      sampled.map(({ sample }) => sample),
    );
    this.#scheduler.measure(parts, performance.now() - start);
    this.#scheduler.keep(plan);
    for (const { sequence, leader } of chosen)
      if (sequence !== leader) this.#scheduler.fork(leader, sequence);
    for (const [i, { sequence }] of sampled.entries()) this.#record(sequence, results[i]!);
  }

  /** Null where its rules fail, and with them its request. */
  #sampleOf(sequence: RunningSequence, part: number): StepSample | null {
    try {
      const bias = sequence.rules?.bias() ?? null;
      if (bias?.mask?.count === 0) throw noTokenLeft();
      const { params } = sequence.request.request;
      return { part, params, uniform: sequence.uniform(), bias };
    } catch (error) {
      this.#fail(sequence.request, error);
      return null;
    }
  }

  #record(sequence: RunningSequence, { token, logprob, temperedLogprob }: StepResult): void {
    // Its request may have failed with another of its sequences, or it waits with what it sampled.
    if (!this.#scheduler.isOpen(sequence)) return;
    if (!Number.isFinite(logprob)) {
      this.#cache.clear();
      this.#fail(sequence.request, notNumbers(`after ${sequence.tokens.length} sampled tokens`));
      return;
    }
    this.#totals.tokens += 1;
    try {
      const { params } = sequence.request.request;
      const picked = isTempered(params) ? { token, logprob, temperedLogprob } : { token, logprob };
      const stopReason = recordToken(sequence, picked, this.#weightVersion);
      if (stopReason === null) return;
      this.#scheduler.drop(sequence);
      finishSequence(sequence, stopReason);
    } catch (error) {
      this.#fail(sequence.request, error);
    }
  }

  /** Ends only this request: the numbers of others never depend on it. */
  #fail(queued: QueuedRequest, error: unknown): void {
    const place = this.#queue.indexOf(queued);
    if (place >= 0) this.#queue.splice(place, 1);
    for (const sequence of this.#scheduler.open)
      if (sequence.request === queued) this.#scheduler.drop(sequence);
    queued.reject(error);
  }

  #failAll(error: unknown): void {
    const failed = new Set(this.#queue.splice(0));
    for (const sequence of this.#scheduler.open) {
      failed.add(sequence.request);
      this.#scheduler.drop(sequence);
    }
    for (const { reject } of failed) reject(error);
  }

  #dropAborted(): void {
    const isAborted = ({ request }: QueuedRequest): boolean => request.signal?.aborted === true;
    for (const sequence of this.#scheduler.open) {
      if (!isAborted(sequence.request)) continue;
      this.#scheduler.drop(sequence);
      finishSequence(sequence, "aborted");
    }
    // Of a queued request, none or some sequences have started: the others start now, to end at once.
    for (const queued of this.#queue.filter(isAborted)) {
      this.#queue.splice(this.#queue.indexOf(queued), 1);
      while (queued.begun < queued.n) finishSequence(this.#next(queued), "aborted");
    }
  }

  #next(queued: QueuedRequest): RunningSequence {
    const rules = queued.rules?.start(queued.request.params) ?? null;
    const sequence = newSequence(queued, this.#begun++, this.contextLength, rules);
    return { ...sequence, cached: 0, blocks: [], leader: null, isShareable: true };
  }

  /** Rejects what is open and what comes; resolves when nothing computes any longer. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#failAll(closed());
    await this.#turns;
  }
}

function closed(): Error {
  return new DOMException("The sampler was closed.", "AbortError");
}
