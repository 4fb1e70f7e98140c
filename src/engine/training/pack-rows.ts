/**
 * Rows that begin alike, as the rollouts of one task do, side by side behind one copy of their
 * beginning: its tokens are computed once. Which token sees which is said by a mask, so that every row
 * gets the numbers it would get alone.
 */
import type { TrainingRow } from "../../core/training-row.ts";
import { maskedScore } from "../model/transformer.ts";
import type { BatchLimits } from "./batch-limits.ts";

export interface IndexedRow {
  readonly row: TrainingRow;
  /** Its place among all rows. */
  readonly index: number;
}

/** One or more rows, computed as one sequence. */
export interface Pack {
  /** Tokens that all members begin with; 0 for a row by itself. */
  readonly shared: number;
  readonly members: readonly IndexedRow[];
  /** Tokens to compute: the beginning, then what each member has of its own. */
  readonly width: number;
}

/** The last token of a row predicts nothing, so it is not computed. */
function ownTokens({ row }: IndexedRow, shared: number): number {
  return row.tokens.length - 1 - shared;
}

/**
 * Tokens before the first prediction that is trained: what rows may share. The token that makes it is
 * each row's own, since a hidden state is read by one row only.
 */
function prefixLength({ targetMask }: TrainingRow): number {
  return Math.max(0, targetMask.indexOf(1, 1) - 1);
}

/** Rows with the same prefix together, as long as that costs less than it saves; each has a trained token. */
export function packRows(rows: readonly IndexedRow[], limits: BatchLimits): readonly Pack[] {
  const byPrefix = new Map<string, IndexedRow[]>();
  for (const indexed of rows) {
    const { row } = indexed;
    const key = row.tokens.subarray(0, prefixLength(row)).join();
    const alike = byPrefix.get(key);
    if (alike === undefined) byPrefix.set(key, [indexed]);
    else alike.push(indexed);
  }
  return [...byPrefix.values()].flatMap((alike) => packAlike(alike, limits));
}

function packAlike(rows: readonly IndexedRow[], limits: BatchLimits): Pack[] {
  const shared = prefixLength(rows[0]!.row);
  const packs: { members: IndexedRow[]; width: number }[] = [];
  for (const indexed of rows) {
    const own = ownTokens(indexed, shared);
    const last = packs.at(-1);
    if (last !== undefined && pays(shared, last.width, own, limits)) {
      last.members.push(indexed);
      last.width += own;
    } else packs.push({ members: [indexed], width: shared + own });
  }
  return packs.map((pack) => ({ ...pack, shared: pack.members.length > 1 ? shared : 0 }));
}

/** Attention computes every score of a sequence, masked or not, so that longer ones cost more than shorter ones. */
function pays(shared: number, width: number, own: number, limits: BatchLimits): boolean {
  const alone = limits.rows(width);
  const together = limits.rows(width + own);
  if (!together.fits || together.checkpointed !== alone.checkpointed) return false;
  const moreScores = (width + own) ** 2 - width ** 2 - (shared + own) ** 2;
  return moreScores < shared * limits.scoresPerToken;
}

/** Each member, and where its own tokens begin in the sequence. */
export function placesOf({
  shared,
  members,
}: Pack): readonly { readonly member: IndexedRow; readonly offset: number }[] {
  let offset = shared;
  return members.map((member) => {
    const place = { member, offset };
    offset += ownTokens(member, shared);
    return place;
  });
}

/** [size, size]: 0 where a token may look, `maskedScore` where it may not. */
export function packMask(pack: Pack, size: number): Float32Array {
  const mask = new Float32Array(size * size).fill(maskedScore);
  const open = (token: number, from: number, to: number): void =>
    void mask.fill(0, token * size + from, token * size + to);
  for (let i = 0; i < pack.shared; i++) open(i, 0, i + 1);
  for (const { member, offset } of placesOf(pack)) {
    for (let i = offset; i < offset + ownTokens(member, pack.shared); i++) {
      open(i, 0, pack.shared);
      open(i, offset, i + 1);
    }
  }
  // Nobody reads padding, but it must be finite.
  for (let i = pack.width; i < size; i++) open(i, i, i + 1);
  return mask;
}
