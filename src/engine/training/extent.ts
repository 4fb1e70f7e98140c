/** How large a batch is, known without laying it out: segments of a kind are padded to the longest of them. */
import type { BatchLimits, BatchSize } from "./batch-limits.ts";

export interface Extent {
  readonly tokens: number;
  readonly trunks: number;
  /** Tokens of the longest trunk. */
  readonly trunk: number;
  readonly branches: number;
  readonly branch: number;
}

/** A beginning that rows share; none when it is empty. */
export function trunkOf(tokens: number): Extent {
  return { tokens, trunks: tokens > 0 ? 1 : 0, trunk: tokens, branches: 0, branch: 0 };
}

/** What a row has of its own. */
export function branchOf(tokens: number): Extent {
  return { tokens, trunks: 0, trunk: 0, branches: 1, branch: tokens };
}

export function together(a: Extent, b: Extent): Extent {
  return {
    tokens: a.tokens + b.tokens,
    trunks: a.trunks + b.trunks,
    trunk: Math.max(a.trunk, b.trunk),
    branches: a.branches + b.branches,
    branch: Math.max(a.branch, b.branch),
  };
}

export function sizeOf({ tokens, trunks, trunk, branches, branch }: Extent): BatchSize {
  const [ofTrunks, ofBranches] = [trunks * trunk, branches * (trunk + branch)];
  return {
    tokens,
    scores: ofTrunks * trunk + ofBranches * branch,
    keys: ofTrunks + ofBranches,
  };
}

/** Whether a batch may become `grown`, which must not fit worse than `now` does. */
export function mayGrow(limits: BatchLimits, now: Extent, grown: Extent): boolean {
  const fit = limits.fit(sizeOf(grown));
  return fit !== "exceeded" && fit === limits.fit(sizeOf(now));
}
