/** The range of a chart's values. Pure. */

/** A constant line lies in the middle: zeros between -1 and 1, others between 10 % less and 10 % more. */
export function paddedRange(low: number | null, high: number | null): [number, number] {
  const [from, to] = [low ?? 0, high ?? 1];
  // Labels of a range this small would all be the same.
  const isConstant = to - from <= 1e-9 * Math.max(Math.abs(from), Math.abs(to));
  const margin = isConstant ? Math.abs(from) * 0.1 || 1 : (to - from) * 0.08;
  return [from - margin, to + margin];
}
