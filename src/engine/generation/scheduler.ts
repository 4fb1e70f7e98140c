/**
 * Who computes what in the next step, and with whose keys and values: sequences that run, those that wait because
 * memory is short, and the blocks of both. The oldest go first; the youngest give theirs up. Knows no requests' ends.
 */
import { groupBy } from "../../util/group-by.ts";
import type { DecoderWeights } from "../decoder/weights.ts";
import { keyBlock } from "../tensor/operations/attention.ts";
import { type Block, type BlockCache, blockKey } from "./block-cache.ts";
import type { StepPart } from "./generation-step.ts";
import {
  forkPrompt,
  growBlocks,
  remaining,
  tokensOf,
  type RunningSequence,
} from "./running-sequence.ts";
import type { QueuedRequest } from "./sequence.ts";

/** How long a step may take at most because of prompts, by the speed of the steps before. */
const promptMs = 300;
const [fewestPromptTokens, maxPromptTokens] = [64, 2048] as const;

/** What a step computes, and of which sequences. */
export interface StepPlan {
  readonly parts: readonly StepPart[];
  readonly sequences: readonly RunningSequence[];
}

export class Scheduler {
  readonly #cache: BlockCache;
  readonly #maxSequences: number;
  /** Oldest first. */
  #running: RunningSequence[] = [];
  /** Preempted ones, oldest first: they go on before new ones begin. */
  #waiting: RunningSequence[] = [];
  #tokensPerMs = 1;
  /** Sequences that were preempted, since the start. */
  preempted = 0;

  constructor(cache: BlockCache, maxSequences: number) {
    this.#cache = cache;
    this.#maxSequences = maxSequences;
  }

  /** That run or wait. */
  get open(): readonly RunningSequence[] {
    return [...this.#running, ...this.#waiting];
  }

  isOpen(sequence: RunningSequence): boolean {
    return this.#running.includes(sequence) || this.#waiting.includes(sequence);
  }

  /** New weights: keys and values of before are not for others. */
  forgetShared(): void {
    this.#cache.clear();
    for (const sequence of this.#running) {
      sequence.isShareable = false;
      // A prompt that is not through begins anew; what was sampled continues with the keys that it has.
      if (sequence.tokens.length === 0) this.#empty(sequence);
    }
  }

  /** Learns the speed of a step that took `ms`. */
  measure(parts: readonly StepPart[], ms: number): void {
    const tokens = parts.reduce((sum, { start, end }) => sum + end - start, 0);
    // Steps of few tokens say nothing about prompts.
    if (tokens >= fewestPromptTokens) this.#tokensPerMs = tokens / Math.max(ms, 0.01);
  }

  /** Every sequence that is through its prompt gets one token; prompts share what time is left. */
  plan(): StepPlan {
    const parts: StepPart[] = [];
    const sequences: RunningSequence[] = [];
    const wanted = Math.round(promptMs * this.#tokensPerMs);
    let left = Math.min(Math.max(wanted, fewestPromptTokens), maxPromptTokens);
    const computed = new Map<Block | DecoderWeights, Set<string>>();
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
      const { weights } = sequence.request;
      parts.push({ weights, tokens: tokensOf(sequence), start: sequence.cached, end, blocks });
      sequences.push(sequence);
    }
    // One that was to run may have been preempted by an older one.
    const kept = [...parts.keys()].filter((i) => this.#running.includes(sequences[i]!));
    const byWeights = [...groupBy(kept, (i) => parts[i]!.weights).values()].flat();
    return {
      parts: byWeights.map((i) => parts[i]!),
      sequences: byWeights.map((i) => sequences[i]!),
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
    this.preempted += 1;
  }

  #empty(sequence: RunningSequence): void {
    this.#cache.release(sequence.blocks.splice(0));
    sequence.cached = 0;
    sequence.isShareable = true;
  }

  /** It no longer runs; who waited for its prompt computes it alone. */
  #remove(sequence: RunningSequence): void {
    this.#running = this.#running.filter((other) => other !== sequence);
    for (const follower of this.followersOf(sequence)) follower.leader = null;
  }

  /** It has ended. */
  drop(sequence: RunningSequence): void {
    this.#remove(sequence);
    this.#waiting = this.#waiting.filter((other) => other !== sequence);
    this.#cache.release(sequence.blocks.splice(0));
  }

  /** Sequences of its request that wait for its prompt. */
  followersOf(leader: RunningSequence): readonly RunningSequence[] {
    return this.#running.filter((sequence) => sequence.leader === leader);
  }

  /**
   * Takes blocks that others have computed in the meantime. Whether it waits for the next one, which another prompt
   * computes in this step.
   */
  #followsAnother(
    sequence: RunningSequence,
    computed: Map<Block | DecoderWeights, Set<string>>,
  ): boolean {
    if (sequence.cached % keyBlock !== 0) return false;
    const all = tokensOf(sequence);
    const { blocks } = sequence;
    const { weights } = sequence.request;
    // Its last token is computed in any case.
    const isBefore = (): boolean => sequence.cached + keyBlock < all.length;
    while (isBefore() && blocks.length * keyBlock === sequence.cached) {
      const next = this.#cache.next(weights, blocks.at(-1) ?? null, all, sequence.cached);
      if (next === null) break;
      blocks.push(this.#cache.use(next));
      sequence.cached += keyBlock;
    }
    if (!isBefore()) return false;
    const before = sequence.cached === 0 ? weights : blocks[sequence.cached / keyBlock - 1]!;
    const key = blockKey(all, sequence.cached);
    const known = computed.get(before) ?? new Set();
    if (known.has(key)) return true;
    computed.set(before, known.add(key));
    return false;
  }

  /** What was computed is there now; full blocks are for everyone who begins alike. */
  keep({ parts, sequences }: StepPlan): void {
    for (const [i, sequence] of sequences.entries())
      if (this.#running.includes(sequence)) this.#keep(sequence, parts[i]!.end);
  }

  #keep(sequence: RunningSequence, end: number): void {
    const first = Math.floor(sequence.cached / keyBlock);
    sequence.cached = end;
    if (!sequence.isShareable) return;
    const all = tokensOf(sequence);
    const { weights } = sequence.request;
    for (let i = first; (i + 1) * keyBlock <= end; i++)
      this.#cache.share(
        weights,
        sequence.blocks[i]!,
        sequence.blocks[i - 1] ?? null,
        all,
        i * keyBlock,
      );
  }

  /** A follower begins where the prompt of its leader ends. */
  fork(leader: RunningSequence, follower: RunningSequence): void {
    follower.leader = null;
    if (!this.#running.includes(follower) || !forkPrompt(this.#cache, leader, follower)) {
      // It has its first token, and computes its prompt again when there is room.
      if (this.#running.includes(follower)) this.#preempt(follower);
    }
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

  /** Lets in those that wait, then new ones: `next` begins the sequences of a request, one after the other. */
  admit(queue: QueuedRequest[], next: (queued: QueuedRequest) => RunningSequence): void {
    while (this.#waiting.length > 0 && this.#hasRoomFor(tokensOf(this.#waiting[0]!).length))
      this.#start(this.#waiting.shift()!, null);
    let leader: RunningSequence | null = null;
    while (this.#waiting.length === 0 && queue.length > 0) {
      const queued = queue[0]!;
      const { tokens } = queued.request;
      const isFollower: boolean = leader?.request === queued;
      if (!this.#hasRoomFor(isFollower ? tokens.length % keyBlock : tokens.length)) return;
      const sequence = next(queued);
      this.#start(sequence, isFollower ? leader : null);
      if (!isFollower) leader = sequence;
      if (queued.begun === queued.n) queue.shift();
    }
  }

  /** With the blocks of others that begin alike; its last token is computed in any case. */
  #start(sequence: RunningSequence, leader: RunningSequence | null): void {
    sequence.leader = leader;
    if (leader === null) {
      const all = tokensOf(sequence);
      const found: Block[] = this.#cache.shared(sequence.request.weights, all, all.length - 1);
      sequence.blocks.push(...found);
      sequence.cached = found.length * keyBlock;
    }
    this.#running.push(sequence);
  }
}
