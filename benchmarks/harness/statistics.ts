/** Order statistics of measured numbers. */

function sorted(values: ArrayLike<number>): Float64Array {
  if (values.length === 0) throw new RangeError("There are no measurements.");
  return Float64Array.from(values).sort();
}

/** The smallest value that at least `share` (in (0, 1]) of all values do not exceed (nearest rank). */
export function percentile(values: ArrayLike<number>, share: number): number {
  const ordered = sorted(values);
  const rank = Math.ceil(share * ordered.length);
  return ordered[Math.min(ordered.length, Math.max(1, rank)) - 1]!;
}

/** The middle value; of an even number of values, the mean of the two in the middle. */
export function median(values: ArrayLike<number>): number {
  const ordered = sorted(values);
  const half = ordered.length >> 1;
  return ordered.length % 2 === 1 ? ordered[half]! : (ordered[half - 1]! + ordered[half]!) / 2;
}

export function mean(values: readonly number[]): number {
  if (values.length === 0) throw new RangeError("There are no measurements.");
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
