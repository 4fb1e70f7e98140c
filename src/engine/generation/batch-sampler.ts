/**
 * Continuous batching: requests join and leave between steps. Every sample is a function of the request's seed and the
 * sequence's own numbers, so results do not depend on what else is running. Knows token ids only, no text.
 */
import { ContextOverflowError } from "../../core/errors.ts";
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
import { keyBlock } from "../tensor/operations/attention.ts";
import { checkPromptIds } from "../token-ids.ts";
import { BlockCache, blockKey, type Block } from "./block-cache.ts";
import {
  GenerationStep,
  type StepPart,
  type StepResult,
  type StepSample,
} from "./generation-step.ts";
import {
  forkPrompt,
  growBlocks,
  remaining,
  tokensOf,
  type RunningSequence,
} from "./running-sequence.ts";

export interface BatchSamplerOptions {
  /** Sequences sampled at once; others wait in a queue. @default 128 */
  readonly maxSequences?: number;
  /**
   * Bytes of keys and values, beyond which the youngest sequences wait. @default a quarter of the memory
   */
  readonly cacheBytes?: number;
  /** Compiles `SamplingParams.rules`. @default one without a vocabulary, which knows no grammars */
  readonly rules?: LogitRuleCompiler;
}

const memoryFraction = 1 / 4;

/** How long a step may take at most because of prompts, by the speed of the steps before. */
const promptMs = 300;
const [fewestPromptTokens, maxPromptTokens] = [64, 2048] as const;

export class BatchSampler implements Sampler {
  readonly contextLength: number;
  readonly #vocabSize: number;
  readonly #rules: LogitRuleCompiler;
  readonly #step: GenerationStep;
  readonly #cache: BlockCache;
  readonly #maxSequences: number;
  readonly #queue: QueuedRequest[] = [];
  readonly #betweenSteps: (() => Promise<void>)[] = [];
  /** Oldest first. */
  #running: RunningSequence[] = [];
  /** Preempted ones, oldest first: they go on before new ones begin. */
  #waiting: RunningSequence[] = [];
  #begun = 0;
  #working = false;
  #isClosed = false;
  #turns: Promise<void> = Promise.resolve();
  #weightVersion = 0;
  #tokensPerMs = 1;
  /** Tokens sampled, milliseconds of computing, and sequences that were preempted, since the start. */
  readonly totals = { tokens: 0, busyMs: 0, preempted: 0 };

  /** `weights` are sampled from: change them only inside `swapWeights`. */
  constructor(weights: DecoderWeights, options: BatchSamplerOptions = {}) {
    const { config, device } = weights;
    this.contextLength = config.contextLength;
    this.#vocabSize = config.vocabSize;
    this.#rules = options.rules ?? new LogitRuleCompiler(config.vocabSize);
    this.#step = new GenerationStep(weights);
    this.#cache = new BlockCache(
      device,
      config,
      options.cacheBytes ?? memoryFraction * memoryLimit(),
    );
    this.#maxSequences = options.maxSequences ?? 128;
  }

  /** Bytes of keys and values that are allocated. */
  get allocatedBytes(): number {
    return this.#cache.allocatedBytes;
  }

  sample(request: SampleRequest): Promise<readonly Sample[]> {
    if (this.#isClosed) return Promise.reject(closed());
    const { tokens } = request;
    if (tokens.length === 0)
      return Promise.reject(new RangeError("A prompt needs at least one token."));
    if (tokens.length >= this.contextLength)
      return Promise.reject(new ContextOverflowError(tokens.length, this.contextLength));
    let rules: CompiledRules | null;
    try {
      checkPromptIds(tokens, this.#vocabSize);
      // What cannot be compiled fails here, and not in the batch.
      rules = request.params.rules === undefined ? null : this.#rules.compile(request.params.rules);
      rules?.start(request.params);
    } catch (error) {
      return Promise.reject(error);
    }
    return new Promise((resolve, reject) => {
      const n = request.n ?? 1;
      const results: (Sample | undefined)[] = Array.from({ length: n });
      const own = { request, rules, n, weightVersion: this.#weightVersion, begun: 0 };
      this.#queue.push({ ...own, results, open: n, resolve, reject });
      this.#work();
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
        this.#cache.clear();
        for (const sequence of this.#running) {
          sequence.isShareable = false;
          // A prompt that is not through begins anew; what was sampled continues with the keys that it has.
          if (sequence.tokens.length === 0) this.#empty(sequence);
        }
        this.#weightVersion = version;
        resolve();
      });
      this.#work();
    });
  }

  get #isIdle(): boolean {
    const { length } = this.#queue;
    return length + this.#betweenSteps.length + this.#running.length + this.#waiting.length === 0;
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
      this.totals.busyMs += performance.now() - start;
    }
    this.#working = false;
  }

  async #turn(): Promise<void> {
    for (const change of this.#betweenSteps.splice(0)) await change();
    this.#dropAborted();
    this.#admit();
    const { parts, sequences } = this.#planParts();
    if (parts.length === 0) return;
    const through = sequences.flatMap((sequence, part) =>
      parts[part]!.end === tokensOf(sequence).length ? [{ sequence, part }] : [],
    );
    const chosen = through.flatMap(({ sequence, part }) =>
      [sequence, ...this.#followersOf(sequence)].map((own) => ({
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
    this.#measure(parts, performance.now() - start);
    for (const [i, sequence] of sequences.entries())
      if (this.#running.includes(sequence)) this.#keep(sequence, parts[i]!.end);
    for (const { sequence, leader } of chosen)
      if (sequence !== leader) this.#fork(leader, sequence);
    for (const [i, { sequence }] of sampled.entries()) this.#record(sequence, results[i]!);
  }

  #measure(parts: readonly StepPart[], ms: number): void {
    const tokens = parts.reduce((sum, { start, end }) => sum + end - start, 0);
    // Steps of few tokens say nothing about prompts.
    if (tokens >= fewestPromptTokens) this.#tokensPerMs = tokens / Math.max(ms, 0.01);
  }

  /** Every sequence that is through its prompt gets one token; prompts share what time is left. */
  #planParts(): {
    readonly parts: readonly StepPart[];
    readonly sequences: readonly RunningSequence[];
  } {
    const parts: StepPart[] = [];
    const sequences: RunningSequence[] = [];
    const wanted = Math.round(promptMs * this.#tokensPerMs);
    let left = Math.min(Math.max(wanted, fewestPromptTokens), maxPromptTokens);
    const computed = new Map<Block | null, Set<string>>();
    const decoding = this.#running.filter((sequence) => remaining(sequence) === 1);
    const prompts = this.#running.filter(
      (sequence) => remaining(sequence) > 1 && sequence.leader === null,
    );
    for (const sequence of [...decoding, ...prompts]) {
      if (!this.#running.includes(sequence) || sequence.leader !== null) continue;
      const isPrompt = remaining(sequence) > 1;
      if (isPrompt && left <= 0) break;
      if (isPrompt && this.#followsAnother(sequence, computed)) continue;
      const end = sequence.cached + Math.min(remaining(sequence), isPrompt ? left : 1);
      if (!this.#makeRoom(sequence, end)) continue;
      if (isPrompt) left -= end - sequence.cached;
      // A copy: a sequence that fails before the step gives its blocks back.
      const blocks = [...sequence.blocks];
      parts.push({ tokens: tokensOf(sequence), start: sequence.cached, end, blocks });
      sequences.push(sequence);
    }
    const isKept = (sequence: RunningSequence): boolean => this.#running.includes(sequence);
    // One that was to run may have been preempted by an older one.
    return {
      parts: parts.filter((_, i) => isKept(sequences[i]!)),
      sequences: sequences.filter(isKept),
    };
  }

  /** Blocks for `end` positions; the youngest others give theirs up. False where it had to wait itself. */
  #makeRoom(sequence: RunningSequence, end: number): boolean {
    while (!growBlocks(this.#cache, sequence, end, this.#running.length === 1)) {
      const youngest = this.#running.reduce((a, b) => (b.order > a.order ? b : a));
      this.#preempt(youngest);
      if (youngest === sequence) return false;
    }
    return true;
  }

  #preempt(sequence: RunningSequence): void {
    this.#remove(sequence);
    this.#empty(sequence);
    this.#waiting = [...this.#waiting, sequence].toSorted((a, b) => a.order - b.order);
    this.totals.preempted += 1;
  }

  #empty(sequence: RunningSequence): void {
    this.#cache.release(sequence.blocks.splice(0));
    sequence.cached = 0;
    sequence.isShareable = true;
  }

  /** It no longer runs; who waited for its prompt computes it alone. */
  #remove(sequence: RunningSequence): void {
    this.#running = this.#running.filter((other) => other !== sequence);
    for (const follower of this.#followersOf(sequence)) follower.leader = null;
  }

  #followersOf(leader: RunningSequence): readonly RunningSequence[] {
    return this.#running.filter((sequence) => sequence.leader === leader);
  }

  /**
   * Takes blocks that others have computed in the meantime. Whether it waits for the next one, which another prompt
   * computes in this step.
   */
  #followsAnother(sequence: RunningSequence, computed: Map<Block | null, Set<string>>): boolean {
    if (sequence.cached % keyBlock !== 0) return false;
    const all = tokensOf(sequence);
    const { blocks } = sequence;
    // Its last token is computed in any case.
    const isBefore = (): boolean => sequence.cached + keyBlock < all.length;
    while (isBefore() && blocks.length * keyBlock === sequence.cached) {
      const next = this.#cache.next(blocks.at(-1) ?? null, all, sequence.cached);
      if (next === null) break;
      blocks.push(this.#cache.use(next));
      sequence.cached += keyBlock;
    }
    if (!isBefore()) return false;
    const before = sequence.cached === 0 ? null : blocks[sequence.cached / keyBlock - 1]!;
    const key = blockKey(all, sequence.cached);
    const known = computed.get(before) ?? new Set();
    if (known.has(key)) return true;
    computed.set(before, known.add(key));
    return false;
  }

  /** What was computed is there now; full blocks are for everyone who begins alike. */
  #keep(sequence: RunningSequence, end: number): void {
    const first = Math.floor(sequence.cached / keyBlock);
    sequence.cached = end;
    if (!sequence.isShareable) return;
    const all = tokensOf(sequence);
    for (let i = first; (i + 1) * keyBlock <= end; i++)
      this.#cache.share(sequence.blocks[i]!, sequence.blocks[i - 1] ?? null, all, i * keyBlock);
  }

  #fork(leader: RunningSequence, follower: RunningSequence): void {
    follower.leader = null;
    if (!this.#running.includes(follower) || !forkPrompt(this.#cache, leader, follower)) {
      // It has its first token, and computes its prompt again when there is room.
      if (this.#running.includes(follower)) this.#preempt(follower);
    }
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
    const isOpen = this.#running.includes(sequence) || this.#waiting.includes(sequence);
    if (!isOpen) return;
    if (!Number.isFinite(logprob)) {
      this.#cache.clear();
      this.#fail(sequence.request, notNumbers(`after ${sequence.tokens.length} sampled tokens`));
      return;
    }
    this.totals.tokens += 1;
    try {
      const { params } = sequence.request.request;
      const picked = isTempered(params) ? { token, logprob, temperedLogprob } : { token, logprob };
      const stopReason = recordToken(sequence, picked, this.#weightVersion);
      if (stopReason === null) return;
      this.#drop(sequence);
      finishSequence(sequence, stopReason);
    } catch (error) {
      this.#fail(sequence.request, error);
    }
  }

  #drop(sequence: RunningSequence): void {
    this.#remove(sequence);
    this.#waiting = this.#waiting.filter((other) => other !== sequence);
    this.#cache.release(sequence.blocks.splice(0));
  }

  /** Ends only this request: the numbers of others never depend on it. */
  #fail(queued: QueuedRequest, error: unknown): void {
    const place = this.#queue.indexOf(queued);
    if (place >= 0) this.#queue.splice(place, 1);
    for (const sequence of [...this.#running, ...this.#waiting])
      if (sequence.request === queued) this.#drop(sequence);
    queued.reject(error);
  }

  #failAll(error: unknown): void {
    const failed = new Set(this.#queue.splice(0));
    for (const sequence of [...this.#running, ...this.#waiting]) {
      failed.add(sequence.request);
      this.#drop(sequence);
    }
    for (const { reject } of failed) reject(error);
  }

  #dropAborted(): void {
    const isAborted = ({ request }: QueuedRequest): boolean => request.signal?.aborted === true;
    for (const sequence of [...this.#running, ...this.#waiting]) {
      if (!isAborted(sequence.request)) continue;
      this.#drop(sequence);
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

  /** Whether another sequence may run: with its tokens in the cache, and a block to spare for each that runs. */
  #hasRoomFor(tokens: number): boolean {
    if (this.#running.length === 0) return true;
    if (this.#running.length >= this.#maxSequences) return false;
    return this.#cache.available >= Math.ceil((tokens + 1) / keyBlock) + this.#promised() + 1;
  }

  /** Blocks that prompts which are not through will take. */
  #promised(): number {
    return this.#running.reduce((sum, sequence) => {
      const needed = Math.ceil((tokensOf(sequence).length + 1) / keyBlock);
      return sum + Math.max(0, needed - sequence.blocks.length);
    }, 0);
  }

  #admit(): void {
    while (this.#waiting.length > 0 && this.#hasRoomFor(tokensOf(this.#waiting[0]!).length))
      this.#start(this.#waiting.shift()!, null);
    let leader: RunningSequence | null = null;
    while (this.#waiting.length === 0 && this.#queue.length > 0) {
      const queued = this.#queue[0]!;
      const { tokens } = queued.request;
      if (!this.#hasRoomFor(leader?.request === queued ? tokens.length % keyBlock : tokens.length))
        return;
      const sequence = this.#next(queued);
      this.#start(sequence, leader?.request === queued ? leader : null);
      if (leader?.request !== queued) leader = sequence;
      if (queued.begun === queued.n) this.#queue.shift();
    }
  }

  /** With the blocks of others that begin alike; its last token is computed in any case. */
  #start(sequence: RunningSequence, leader: RunningSequence | null): void {
    sequence.leader = leader;
    if (leader === null) {
      const all = tokensOf(sequence);
      const found: Block[] = this.#cache.shared(all, all.length - 1);
      sequence.blocks.push(...found);
      sequence.cached = found.length * keyBlock;
    }
    this.#running.push(sequence);
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
