/** A sequence that is being sampled, and its keys and values. */
import { joinTokens } from "../../util/token-prefix.ts";
import { keyBlock } from "../tensor/operations/attention.ts";
import type { Sequence } from "./sequence.ts";
import type { Block, BlockCache } from "./block-cache.ts";

/** `cached` of its tokens, prompt and sampled, have their keys and values in `blocks`. */
export interface RunningSequence extends Sequence {
  readonly blocks: Block[];
  /** Another sequence of its request that computes the same prompt; null for none. */
  leader: RunningSequence | null;
  /** All that is cached was computed with the weights of now. */
  isShareable: boolean;
}

/** Prompt and sampled tokens. */
export function tokensOf({ request, tokens }: RunningSequence): ArrayLike<number> {
  const prompt = request.request.tokens;
  return tokens.length === 0 ? prompt : joinTokens(prompt, tokens);
}

/** Tokens to compute before its next sample. */
export function remaining({ request, tokens, cached }: RunningSequence): number {
  return request.request.tokens.length + tokens.length - cached;
}

/** Gives it blocks for `end` positions. False where there are none left. */
export function growBlocks(
  cache: BlockCache,
  { blocks }: RunningSequence,
  end: number,
  force: boolean,
): boolean {
  while (blocks.length * keyBlock < end) {
    const block = cache.take(force);
    if (block === null) return false;
    blocks.push(block);
  }
  return true;
}

/** `follower` begins where the prompt of `leader` ends. False where there is no block for it. */
export function forkPrompt(
  cache: BlockCache,
  leader: RunningSequence,
  follower: RunningSequence,
): boolean {
  const { promptTokens } = leader;
  const full = Math.floor(promptTokens / keyBlock);
  const rest = promptTokens % keyBlock > 0 ? cache.copy(leader.blocks[full]!) : null;
  if (promptTokens % keyBlock > 0 && rest === null) return false;
  follower.blocks.push(...leader.blocks.slice(0, full).map((block) => cache.use(block)));
  if (rest !== null) follower.blocks.push(rest);
  follower.cached = promptTokens;
  follower.isShareable = leader.isShareable;
  return true;
}
