/**
 * Rows with a shared prefix, as the rollouts of one task have, with one copy of it: its tokens are
 * computed once, and every row gets the numbers that it would get alone.
 */
import { isPredicted } from "../../core/loss/observations.ts";
import type { TrainingRow } from "../../core/loss/training-row.ts";
import { groupBy } from "../../util/group-by.ts";
import { mayGrow, type BatchLimits } from "./batch-limits.ts";

export interface IndexedRow {
  readonly row: TrainingRow;
  /** Its index among all rows. */
  readonly index: number;
}

/** One or more rows that are computed together. */
export interface Pack {
  /** Length of the prefix that all members share; 0 for a single row. */
  readonly shared: number;
  readonly members: readonly IndexedRow[];
}

/** The last token of a row predicts nothing, so it is not computed. */
function ownTokens({ row }: IndexedRow, shared: number): number {
  return row.tokens.length - 1 - shared;
}

/**
 * Tokens before the first prediction that is trained: what rows may share. The token that makes it is
 * not shared, since a hidden state is read by one row only.
 */
function prefixLength(row: TrainingRow): number {
  const first = row.targetMask.indexOf(1, 1);
  if (row.observationWeights === undefined) return Math.max(0, first - 1);
  const any = row.targetMask.findIndex((_, i) => i > 0 && isPredicted(row, i));
  return Math.max(0, any - 1);
}

/** Rows with the same prefix together, as far as memory allows; each has a trained token. */
export function packRows(rows: readonly IndexedRow[], limits: BatchLimits): readonly Pack[] {
  const byPrefix = groupBy(rows, ({ row }) => row.tokens.subarray(0, prefixLength(row)).join());
  return [...byPrefix.values()].flatMap((alike) => packAlike(alike, limits));
}

function packAlike(rows: readonly IndexedRow[], limits: BatchLimits): Pack[] {
  const shared = prefixLength(rows[0]!.row);
  if (shared === 0) return rows.map(alone);
  const packs: { members: IndexedRow[]; tokens: number }[] = [];
  for (const indexed of rows) {
    const own = ownTokens(indexed, shared);
    const pack = packs.at(-1);
    if (
      pack !== undefined &&
      mayGrow(limits, tokensOf(alone(pack.members[0]!)), pack.tokens + own)
    ) {
      pack.members.push(indexed);
      pack.tokens += own;
    } else packs.push({ members: [indexed], tokens: shared + own });
  }
  return packs.map(({ members }) =>
    members.length > 1 ? { shared, members } : alone(members[0]!),
  );
}

const alone = (row: IndexedRow): Pack => ({ shared: 0, members: [row] });

/** Tokens that are computed for it. */
export function tokensOf({ shared, members }: Pack): number {
  return members.reduce((sum, member) => sum + ownTokens(member, shared), shared);
}

/** Consecutive tokens; each attends to those before it. */
interface Segment {
  /** Place of its first token. */
  readonly start: number;
  readonly length: number;
  /** The prefix that all of its tokens attend to as well. */
  readonly prefix: Segment | null;
}

/** Packs one after another: each pack's shared prefix, then each member's suffix. */
export interface PlacedPacks {
  readonly tokens: number;
  readonly prefix: readonly Segment[];
  /** In the order of packs and members. */
  readonly suffix: readonly Segment[];
}

export function placePacks(packs: readonly Pack[]): PlacedPacks {
  const prefix: Segment[] = [];
  const suffix: Segment[] = [];
  let tokens = 0;
  const place = (length: number, before: Segment | null): Segment => {
    const segment = { start: tokens, length, prefix: before };
    tokens += length;
    return segment;
  };
  for (const { shared, members } of packs) {
    const prefixSegment = shared > 0 ? place(shared, null) : null;
    if (prefixSegment !== null) prefix.push(prefixSegment);
    for (const member of members) suffix.push(place(ownTokens(member, shared), prefixSegment));
  }
  return { tokens, prefix, suffix };
}
