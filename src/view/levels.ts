/** Rewards as colours from `--seq0` to `--seq8`. Pure. */

const levels = 9;

/** 0 to 8, in equal parts of the range. */
export function levelOf(
  reward: number,
  { low, high }: { readonly low: number; readonly high: number },
): number {
  if (high <= low) return 0;
  return Math.max(0, Math.min(levels - 1, Math.floor((levels * (reward - low)) / (high - low))));
}
