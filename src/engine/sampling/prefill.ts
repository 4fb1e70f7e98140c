/**
 * Computes the prefix-tree nodes of waiting prompts, one run of the graph at a time, so that others can
 * be continued, and prompts cancelled, in between. Blocks of several prompts are batched where their
 * shapes are equal; a block's content does not depend on batch composition.
 */
import type { ModelConfig } from "../model/model-config.ts";
import { maskedScore } from "../model/attention.ts";
import { areNumbers, notNumbers } from "./not-numbers.ts";
import {
  blockKey,
  blockTokens,
  cutIntoBlocks,
  type PrefixNode,
  type PrefixTree,
} from "./prefix-tree.ts";
import { ScratchCache } from "./prompt-cache.ts";
import type { SamplingSession, StepOutput } from "./sampling-session.ts";

/** Enough rows to keep a CPU busy, few enough that others need not wait long. */
const maxBlocksPerRun = 8;
/** A short block is padded to a multiple of it. */
const shortBlockTokens = 32;

interface Cursor<R> {
  readonly request: R;
  readonly blocks: readonly Int32Array[];
  /** The last block that is cached. */
  node: PrefixNode | null;
  next: number;
}

interface Job {
  readonly parent: PrefixNode | null;
  readonly tokens: Int32Array;
}

/** A request whose prompt is cached up to `node`, its end. */
export interface Prefilled<R> {
  readonly request: R;
  readonly node: PrefixNode;
}

/** A request whose prompt cannot be computed. */
export interface FailedPrompt<R> {
  readonly request: R;
  readonly error: unknown;
}

/** Neither is waiting any longer. */
export interface Advance<R> {
  readonly completed: readonly Prefilled<R>[];
  readonly failed: readonly FailedPrompt<R>[];
}

export class Prefill<R> {
  readonly #tree: PrefixTree;
  readonly #session: SamplingSession;
  readonly #config: ModelConfig;
  /** The longest waiting first. */
  #cursors: readonly Cursor<R>[] = [];
  #scratch: ScratchCache;

  constructor(tree: PrefixTree, session: SamplingSession, config: ModelConfig) {
    this.#tree = tree;
    this.#session = session;
    this.#config = config;
    this.#scratch = new ScratchCache(config);
  }

  get waiting(): readonly R[] {
    return this.#cursors.map(({ request }) => request);
  }

  /** @param tokens at least one */
  add(request: R, tokens: Int32Array): void {
    const cursor = { request, blocks: cutIntoBlocks(tokens), node: null, next: 0 };
    this.#cursors = [...this.#cursors, cursor];
  }

  remove(request: R): void {
    this.#cursors = this.#cursors.filter((cursor) => cursor.request !== request);
  }

  /** Forgets what was computed with other weights; called when the tree has been cleared. */
  restart(): void {
    this.#scratch = new ScratchCache(this.#config);
    for (const cursor of this.#cursors) Object.assign(cursor, { node: null, next: 0 });
  }

  /** At most one run, unless it fails: then each of its blocks is run separately. */
  async advance(): Promise<Advance<R>> {
    const cached = this.#takeComplete();
    const [oldest] = this.#cursors;
    if (oldest === undefined) return { completed: cached, failed: [] };
    const failed = await this.#computeApart(this.#jobsLike(oldest));
    const completed = [...cached, ...this.#takeComplete()];
    const needed = [...this.#cursors, ...completed].map(({ node }) => node);
    this.#tree.trim(new Set(needed));
    return { completed, failed };
  }

  /** Blocks of a failed run are retried one by one, so that failures stay isolated. */
  async #computeApart(jobs: readonly Job[]): Promise<readonly FailedPrompt<R>[]> {
    try {
      const spoiled = await this.#compute(jobs);
      return spoiled.flatMap((job) => this.#takeFailed(job, notNumbers("in the prompt")));
    } catch (error) {
      if (jobs.length === 1) return this.#takeFailed(jobs[0]!, error);
      const failed: FailedPrompt<R>[] = [];
      for (const job of jobs) failed.push(...(await this.#computeApart([job])));
      return failed;
    }
  }

  /** All requests that wait for this block. */
  #takeFailed({ parent, tokens }: Job, error: unknown): readonly FailedPrompt<R>[] {
    const key = blockKey(tokens);
    const isFailed = ({ node, blocks, next }: Cursor<R>): boolean =>
      node === parent && blockKey(blocks[next]!) === key;
    const failed = this.#cursors.filter(isFailed).map(({ request }) => ({ request, error }));
    this.#cursors = this.#cursors.filter((cursor) => !isFailed(cursor));
    return failed;
  }

  /** Follows the tree as far as the prompt is cached. */
  #takeComplete(): readonly Prefilled<R>[] {
    const completed: Prefilled<R>[] = [];
    const waiting: Cursor<R>[] = [];
    for (const cursor of this.#cursors) {
      let child: PrefixNode | undefined;
      while (cursor.next < cursor.blocks.length) {
        child = this.#tree.find(cursor.node, blockKey(cursor.blocks[cursor.next]!));
        if (child === undefined) break;
        cursor.node = child;
        cursor.next += 1;
      }
      if (cursor.next < cursor.blocks.length) waiting.push(cursor);
      else completed.push({ request: cursor.request, node: cursor.node! });
    }
    this.#cursors = waiting;
    return completed;
  }

  /** The next blocks of `first` and of others with the same shape, each once. */
  #jobsLike(first: Cursor<R>): readonly Job[] {
    const jobs: Job[] = [];
    const known = new Map<PrefixNode | null, Set<string>>();
    const [size, length] = [paddedTokens(first.blocks[first.next]!), cacheLength(first.next)];
    for (const { node, blocks, next } of this.#cursors) {
      const tokens = blocks[next]!;
      if (paddedTokens(tokens) !== size || cacheLength(next) !== length) continue;
      const siblings = known.get(node) ?? new Set();
      const key = blockKey(tokens);
      if (siblings.has(key)) continue;
      known.set(node, siblings.add(key));
      jobs.push({ parent: node, tokens });
      if (jobs.length === maxBlocksPerRun) break;
    }
    return jobs;
  }

  /** Jobs of the same shape. @returns those whose results were NaN, which are not kept. */
  async #compute(jobs: readonly Job[]): Promise<readonly Job[]> {
    const sequences = jobs.length;
    const newTokens = paddedTokens(jobs[0]!.tokens);
    const pasts = jobs.map((job) => depthOf(job) * blockTokens);
    const cachedTokens = cacheLength(depthOf(jobs[0]!));
    const ids = new BigInt64Array(sequences * newTokens);
    const positions = new BigInt64Array(sequences * newTokens);
    for (let b = 0; b < sequences; b++) {
      const { tokens } = jobs[b]!;
      for (let s = 0; s < newTokens; s++) {
        ids[b * newTokens + s] = BigInt(tokens[s] ?? 0);
        // Padding after a short last block keeps a valid position; the causal mask hides it.
        const position = Math.min(pasts[b]! + s, this.#config.contextLength - 1);
        positions[b * newTokens + s] = BigInt(position);
      }
    }
    const lastRows = jobs.map(({ tokens }, b) => BigInt(b * newTokens + tokens.length - 1));
    const output = await this.#session.step({
      sequences,
      newTokens,
      cachedTokens,
      ids,
      positions,
      mask: blockMasks(pasts, cachedTokens, newTokens),
      // A product of a single row would be computed differently.
      rows: BigInt64Array.from(sequences === 1 ? [...lastRows, ...lastRows] : lastRows),
      cache: this.#scratch.gather(
        jobs.map(({ parent }) => parent),
        cachedTokens,
      ),
    });
    const spoiled: Job[] = [];
    for (const [b, job] of jobs.entries()) {
      const probabilities = rowOf(output, b, this.#config);
      if (!areNumbers(probabilities)) {
        spoiled.push(job);
        continue;
      }
      const own = (layer: Float32Array): Float32Array =>
        ownTokens(layer, b, job.tokens.length, newTokens, this.#config);
      this.#tree.insert({
        parent: job.parent,
        tokens: job.tokens.slice(),
        keys: output.keys.map(own),
        values: output.values.map(own),
        probabilities,
      });
    }
    return spoiled;
  }
}

/** S: a function of the block alone, as is everything that affects its numbers. */
function paddedTokens({ length }: Int32Array): number {
  return Math.ceil(length / shortBlockTokens) * shortBlockTokens;
}

function depthOf({ parent }: Job): number {
  return parent === null ? 0 : parent.depth + 1;
}

/** T; the graph requires at least some tokens, even where there are none. */
function cacheLength(depth: number): number {
  return Math.max(1, depth) * blockTokens;
}

/** A copy of row `r` of the probabilities: a view would keep the whole batch alive. */
function rowOf(output: StepOutput, r: number, config: ModelConfig): Float32Array {
  return output.probabilities.slice(r * config.vocabSize, (r + 1) * config.vocabSize);
}

/** [B, S, T + S], of sequences with `pasts` cached tokens. */
function blockMasks(pasts: readonly number[], T: number, S: number): Float32Array {
  const width = T + S;
  const masks = new Float32Array(pasts.length * S * width);
  for (const [b, past] of pasts.entries()) {
    for (let s = 0; s < S; s++) {
      const start = (b * S + s) * width;
      masks.fill(maskedScore, start + past, start + T);
      masks.fill(maskedScore, start + T + s + 1, start + width);
    }
  }
  return masks;
}

/** [B, K, S, D] -> [K, length, D] of one sequence. */
function ownTokens(
  layer: Float32Array,
  b: number,
  length: number,
  S: number,
  { kvHeads, headSize }: ModelConfig,
): Float32Array {
  const own = new Float32Array(kvHeads * length * headSize);
  for (let k = 0; k < kvHeads; k++) {
    const start = (b * kvHeads + k) * S * headSize;
    own.set(layer.subarray(start, start + length * headSize), k * length * headSize);
  }
  return own;
}
