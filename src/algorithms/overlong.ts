/**
 * Soft overlong penalty of DAPO (Yu et al. 2025, arXiv:2503.14476, section 3.4). With n the length
 * of a response, L its maximum and c a margin before that:
 *
 *   0 for n <= L - c,  factor ((L - c) - n) / c up to n = L,  -factor beyond
 */

export interface OverlongOptions {
  /** L, in tokens. */
  readonly maxLength: number;
  /** c, in tokens; above 0. */
  readonly margin: number;
  readonly factor: number;
}

/** What is added to the reward of a response of `length` tokens: at most 0. */
export function overlongPenalty(
  length: number,
  { maxLength, margin, factor }: OverlongOptions,
): number {
  const over = length - (maxLength - margin);
  return over <= 0 ? 0 : -factor * Math.min(1, over / margin);
}
