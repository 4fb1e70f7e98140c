/**
 * Continuous batching: requests join and leave between steps. Every draw is a function of the
 * request's seed and the sequence's own numbers, so results do not depend on what else is running.
 * Knows token ids only, no text.
 */
import { ContextOverflowError } from "../../core/errors.ts";
import type {
  Sample,
  SampleRequest,
  Sampler,
  StopReason,
  WeightChange,
} from "../../core/policy.ts";
import { deriveSeed, createRandom } from "../../util/random.ts";
import type { ModelConfig } from "../model/model-config.ts";
import type { PolicyModel } from "../model/policy-model.ts";
import type { Provider } from "../provider.ts";
import { Lane } from "./lane.ts";
import type { LaneSequence } from "./lane.ts";
import { pickToken } from "./pick-token.ts";
import { Prefill } from "./prefill.ts";
import type { Prefilled } from "./prefill.ts";
import { PrefixTree } from "./prefix-tree.ts";
import { SamplingSession } from "./sampling-session.ts";
import type { SamplingPrecision } from "./sampling-session.ts";

export interface BatchSamplerOptions {
  readonly threads: number;
  /** @default "cpu" */
  readonly provider?: Provider;
  /** @default "float32" */
  readonly precision?: SamplingPrecision;
  /** Sequences decoded at once; more wait in line. @default 128 */
  readonly maxSequences?: number;
  /** Bytes of cached prompts. @default 256 MiB */
  readonly prefixCacheBytes?: number;
}

interface Sequence extends LaneSequence {
  readonly request: QueuedRequest;
  readonly index: number;
  readonly uniform: () => number;
  readonly limit: number;
  readonly tokens: number[];
  readonly logprobs: number[];
  /** Of the latest token. */
  version: number;
  readonly changes: WeightChange[];
}

interface QueuedRequest {
  readonly request: SampleRequest;
  readonly n: number;
  readonly weightVersion: number;
  readonly results: (Sample | undefined)[];
  open: number;
  readonly resolve: (samples: readonly Sample[]) => void;
  readonly reject: (error: unknown) => void;
}

/** Cache lengths of lanes are multiples of it: shorter ones waste less on padding, but split batches. */
const laneTokens = 128;

export class BatchSampler implements Sampler {
  readonly contextLength: number;
  readonly #config: ModelConfig;
  readonly #session: SamplingSession;
  readonly #tree: PrefixTree;
  readonly #prefill: Prefill<QueuedRequest>;
  readonly #maxSequences: number;
  readonly #queue: QueuedRequest[] = [];
  readonly #betweenSteps: (() => void)[] = [];
  readonly #lanes = new Map<number, Lane<Sequence>>();
  #running = 0;
  #working = false;
  #weightVersion = 0;
  /** Tokens drawn, and milliseconds of computing, since the beginning. */
  readonly totals = { tokens: 0, busyMs: 0 };

  private constructor(policy: PolicyModel, session: SamplingSession, options: BatchSamplerOptions) {
    this.#config = policy.config;
    this.contextLength = policy.config.contextLength;
    this.#session = session;
    this.#maxSequences = options.maxSequences ?? 128;
    this.#tree = new PrefixTree(options.prefixCacheBytes ?? 256 * 2 ** 20);
    this.#prefill = new Prefill(this.#tree, session, policy.config);
  }

  /** `policy.data` is what is sampled from: change it only inside `swapWeights`. */
  static async create(policy: PolicyModel, options: BatchSamplerOptions): Promise<BatchSampler> {
    return new BatchSampler(
      policy,
      await SamplingSession.create(policy, options.threads, options.precision, options.provider),
      options,
    );
  }

  sample(request: SampleRequest): Promise<readonly Sample[]> {
    const { tokens } = request;
    if (tokens.length === 0)
      return Promise.reject(new RangeError("A prompt needs at least one token."));
    if (tokens.length >= this.contextLength) {
      return Promise.reject(new ContextOverflowError(tokens.length, this.contextLength));
    }
    return new Promise((resolve, reject) => {
      const n = request.n ?? 1;
      const results: (Sample | undefined)[] = Array.from({ length: n });
      const weightVersion = this.#weightVersion;
      this.#queue.push({ request, n, weightVersion, results, open: n, resolve, reject });
      void this.#work();
    });
  }

  /** Runs `change` between two steps, then serves the result as `version`. */
  swapWeights(change: () => void, version: number): Promise<void> {
    return new Promise((resolve) => {
      this.#betweenSteps.push(() => {
        change();
        this.#tree.clear();
        this.#prefill.restart();
        this.#weightVersion = version;
        resolve();
      });
      void this.#work();
    });
  }

  async #work(): Promise<void> {
    if (this.#working) return;
    this.#working = true;
    try {
      while (this.#queue.length > 0 || this.#running > 0 || this.#betweenSteps.length > 0) {
        for (const change of this.#betweenSteps.splice(0)) change();
        this.#dropAborted();
        const start = performance.now();
        this.#admit();
        for (const ready of await this.#prefill.advance()) this.#begin(ready);
        for (const lane of this.#lanes.values()) await this.#advance(lane);
        this.totals.busyMs += performance.now() - start;
        // Lets new requests and cancellations in.
        await new Promise((resolve) => setImmediate(resolve));
      }
    } catch (error) {
      this.#failAll(error);
    } finally {
      this.#working = false;
    }
  }

  #failAll(error: unknown): void {
    const failed = new Set([...this.#queue.splice(0), ...this.#prefill.waiting]);
    for (const queued of this.#prefill.waiting) this.#prefill.remove(queued);
    for (const lane of this.#lanes.values())
      for (const { request } of lane.sequences) failed.add(request);
    this.#lanes.clear();
    this.#running = 0;
    for (const { reject } of failed) reject(error);
  }

  #dropAborted(): void {
    for (const lane of this.#lanes.values()) {
      for (let i = lane.sequences.length - 1; i >= 0; i--) {
        const sequence = lane.sequences[i]!;
        if (sequence.request.request.signal?.aborted !== true) continue;
        lane.remove(i);
        this.#finish(sequence, "aborted");
      }
    }
    const isAborted = ({ request }: QueuedRequest): boolean => request.signal?.aborted === true;
    for (const queued of this.#prefill.waiting.filter(isAborted)) {
      this.#prefill.remove(queued);
      this.#running -= queued.n;
      resolveEmpty(queued);
    }
    for (const queued of this.#queue.filter(isAborted)) {
      this.#queue.splice(this.#queue.indexOf(queued), 1);
      resolveEmpty(queued);
    }
  }

  #admit(): void {
    while (this.#queue.length > 0) {
      // A request larger than the limit still runs, alone.
      if (this.#running > 0 && this.#running + this.#queue[0]!.n > this.#maxSequences) return;
      const queued = this.#queue.shift()!;
      this.#running += queued.n;
      this.#prefill.add(queued, queued.request.tokens);
    }
  }

  #begin({ request: queued, node }: Prefilled<QueuedRequest>): void {
    const { tokens, params } = queued.request;
    for (let index = 0; index < queued.n; index++) {
      const sequence: Sequence = {
        request: queued,
        index,
        uniform: createRandom(deriveSeed(params.seed, index)),
        limit: Math.min(params.maxTokens, this.contextLength - tokens.length),
        tokens: [],
        logprobs: [],
        version: queued.weightVersion,
        changes: [],
        cached: tokens.length,
        pending: 0,
      };
      if (this.#draw(sequence, node.probabilities)) continue;
      this.#lane(sequence.cached).addFromPrompt(sequence, node);
    }
  }

  #lane(cached: number): Lane<Sequence> {
    // One place is kept free: a step reads T cached tokens and writes the next one.
    const length = Math.ceil((cached + 1) / laneTokens) * laneTokens;
    let lane = this.#lanes.get(length);
    if (lane === undefined) {
      lane = new Lane(length, this.#config);
      this.#lanes.set(length, lane);
    }
    return lane;
  }

  async #advance(lane: Lane<Sequence>): Promise<void> {
    if (lane.sequences.length === 0) return;
    const probabilities = await lane.step(this.#session);
    const V = this.#config.vocabSize;
    for (let i = lane.sequences.length - 1; i >= 0; i--) {
      const sequence = lane.sequences[i]!;
      if (this.#draw(sequence, probabilities.subarray(i * V, (i + 1) * V))) {
        lane.remove(i);
      } else if (sequence.cached + 1 > lane.cachedTokens) {
        this.#lane(sequence.cached).addFromLane(lane, i);
        lane.remove(i);
      }
    }
  }

  /** Draws the next token; true when the sequence has ended. */
  #draw(sequence: Sequence, probabilities: Float32Array): boolean {
    const { params, onChunk } = sequence.request.request;
    if (sequence.version !== this.#weightVersion) {
      sequence.version = this.#weightVersion;
      sequence.changes.push({ at: sequence.tokens.length, weightVersion: sequence.version });
    }
    const { token, logprob } = pickToken(probabilities, params, sequence.uniform());
    sequence.tokens.push(token);
    sequence.logprobs.push(logprob);
    sequence.pending = token;
    this.totals.tokens += 1;
    onChunk?.({
      index: sequence.index,
      tokens: Int32Array.of(token),
      logprobs: Float32Array.of(logprob),
    });
    const stopped = params.stopTokenIds.includes(token);
    if (!stopped && sequence.tokens.length < sequence.limit) return false;
    this.#finish(sequence, stopped ? "stop" : "length");
    return true;
  }

  #finish(sequence: Sequence, stopReason: StopReason): void {
    const queued = sequence.request;
    queued.results[sequence.index] = {
      tokens: Int32Array.from(sequence.tokens),
      logprobs: Float32Array.from(sequence.logprobs),
      stopReason,
      weightVersion: queued.weightVersion,
      ...(sequence.changes.length === 0 ? {} : { weightChanges: sequence.changes }),
    };
    this.#running -= 1;
    queued.open -= 1;
    if (queued.open === 0) queued.resolve(queued.results as Sample[]);
  }

  close(): Promise<void> {
    return this.#session.close();
  }
}

/** For a request that was aborted before its first token. */
function resolveEmpty({ results, weightVersion, resolve }: QueuedRequest): void {
  const nothing = { tokens: new Int32Array(0), logprobs: new Float32Array(0), weightVersion };
  resolve(results.map(() => ({ ...nothing, stopReason: "aborted" as const })));
}
