/**
 * What all of rollout correction starts from: x = old - rollout, the trainer's log-probability of each
 * trained token minus that of the server that sampled it. Rows of a batch, trained tokens only.
 */

/** [row][trained token] */
export type TokenValues = readonly Float64Array[];

/** Bounds of a ratio. */
export interface RatioBounds {
  readonly low: number;
  readonly high: number;
}

const boundsText = /^(\d+(?:\.\d+)?(?:e-?\d+)?)_(\d+(?:\.\d+)?(?:e-?\d+)?)$/iu;

/** Parses `low_high`; null when it is not of that form, or empty. */
export function parseBounds(text: string): RatioBounds | null {
  const [, low, high] = boundsText.exec(text.trim()) ?? [];
  const bounds = { low: Number(low), high: Number(high) };
  return bounds.low < bounds.high ? bounds : null;
}

export function sumOf(values: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i] as number;
  return sum;
}
