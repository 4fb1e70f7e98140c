/** An example as tokens: which ids there are, and which of them are trained on. Small, since a dataset has many. */
import type { RowSegment, TrainingRow } from "../../../core/loss/training-row.ts";

/** One sequence. */
export interface TokenRow {
  /** [length] */
  readonly tokens: Int32Array;
  /** [length] 1 where the token is trained on. */
  readonly mask: Uint8Array;
}

/** One example: a conversation, which may have a label, or a pair of them. */
export interface Example {
  /** Where it comes from, as `data.jsonl:12`, for messages. */
  readonly at: string;
  /** The conversation; more than one row where a turn does not continue the one before it. For DPO the chosen one. */
  readonly rows: readonly TokenRow[];
  /** DPO: the rejected conversation; null otherwise. */
  readonly rejected: readonly TokenRow[] | null;
  /** KTO: whether the conversation is desirable; null otherwise. */
  readonly label: boolean | null;
}

/** All rows of an example. */
export function rowsOfExample({ rows, rejected }: Example): readonly TokenRow[] {
  return rejected === null ? rows : [...rows, ...rejected];
}

/** Tokens that are trained on; the first of a sequence is predicted by nothing. */
export function countTrained({ mask }: TokenRow): number {
  let count = 0;
  for (let i = 1; i < mask.length; i++) count += mask[i] as number;
  return count;
}

function segmentsOf({ mask }: TokenRow, traceId: string): readonly RowSegment[] {
  const segments: RowSegment[] = [];
  for (let start = 0; start < mask.length;) {
    let end = start + 1;
    while (end < mask.length && mask[end] === mask[start]) end++;
    const kind = mask[start] === 1 ? "response" : "prompt";
    segments.push({ start, end, kind, traceId, weightVersion: 0 });
    start = end;
  }
  return segments;
}

/** A row as backends train on it. @param advantage of every trained token. */
export function trainingRow(
  row: TokenRow,
  at: string,
  advantage: number = 1,
  samplingLogprobs?: Float32Array,
): TrainingRow {
  const { tokens, mask } = row;
  const { length } = tokens;
  return {
    tokens,
    targetMask: mask,
    samplingLogprobs: samplingLogprobs ?? new Float32Array(length),
    advantages: Float32Array.from(mask, (trained) => trained * advantage),
    segments: segmentsOf(row, at),
    provenance: {
      taskId: at,
      episodeId: at,
      rolloutIndex: 0,
      trajectoryUid: at,
      trajectoryName: "example",
    },
  };
}
