/** Which packs are computed in one micro-batch. */
import { mayGrow, type BatchLimits } from "./batch-limits.ts";
import { tokensOf, type Pack } from "./pack-rows.ts";

/** One micro-batch. */
export interface Gathered {
  readonly packs: readonly Pack[];
  readonly tokens: number;
}

/** The largest first, as many together as memory allows. */
export function gatherPacks(packs: readonly Pack[], limits: BatchLimits): readonly Gathered[] {
  const batches: { packs: Pack[]; tokens: number }[] = [];
  for (const pack of packs.toSorted((a, b) => tokensOf(b) - tokensOf(a))) {
    const last = batches.at(-1);
    const tokens = tokensOf(pack);
    if (last !== undefined && mayGrow(limits, last.tokens, last.tokens + tokens)) {
      last.packs.push(pack);
      last.tokens += tokens;
    } else batches.push({ packs: [pack], tokens });
  }
  return batches;
}
