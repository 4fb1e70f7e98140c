/** Which packs are computed in one micro-batch, by size only. */
import type { BatchLimits } from "./batch-limits.ts";
import { mayGrow, sizeOf, together, type Extent } from "./extent.ts";
import { extentOf, type Pack } from "./pack-rows.ts";

/** Tokens from which on a batch is large enough to keep a CPU busy. */
const busyTokens = 512;
/** How much attention may grow by padding in a batch that is busy already. */
const maxPadding = 1.5;
/**
 * Suffixes get their prefixes by a product with all prefixes of the batch, which must stay small compared
 * to the rest.
 */
const maxPrefixes = 64;

/** One micro-batch. */
export interface Gathered {
  readonly packs: readonly Pack[];
  readonly extent: Extent;
  /** What attention would compute for each pack by itself. */
  readonly scores: number;
}

/** Packs as batches: longest shared prefixes first; similar in size or small, and within memory. */
export function gatherPacks(packs: readonly Pack[], limits: BatchLimits): readonly Gathered[] {
  const batches: (Gathered & { packs: Pack[] })[] = [];
  const sized = packs
    .map((pack) => ({ pack, extent: extentOf(pack) }))
    .toSorted((a, b) => b.extent.prefix - a.extent.prefix || b.extent.suffix - a.extent.suffix);
  for (const { pack, extent } of sized) {
    const last = batches.at(-1);
    const alone = { packs: [pack], extent, scores: sizeOf(extent).scores };
    const grown = last && {
      packs: last.packs,
      extent: together(last.extent, extent),
      scores: last.scores + alone.scores,
    };
    if (grown !== undefined && goTogether(last!, grown, limits)) {
      grown.packs.push(pack);
      batches[batches.length - 1] = grown;
    } else batches.push(alone);
  }
  return batches;
}

function goTogether(now: Gathered, grown: Gathered, limits: BatchLimits): boolean {
  if (grown.extent.prefixes > maxPrefixes) return false;
  const isAlike = sizeOf(grown.extent).scores <= maxPadding * grown.scores;
  if (!isAlike && now.extent.tokens >= busyTokens) return false;
  return mayGrow(limits, now.extent, grown.extent);
}
