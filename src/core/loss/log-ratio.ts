/**
 * Limits on log-ratios l - o before exp, those of verl: an outlier must not turn a loss whose value is
 * finite into NaN. A token or row beyond a limit gets the ratio at the limit, and no gradient flows
 * through it.
 */

/** Of a token. exp(20) is about 4.9e8, and exp(-20) about 2e-9. */
export const maxLogRatio = 20;

/** Of a row's mean, in `gspo`: from above only, as a small ratio harms nothing. */
export const largestRowLogRatio = 10;

/** Limited to ±20. */
export const limitLogRatio = (x: number): number =>
  Math.min(maxLogRatio, Math.max(-maxLogRatio, x));

/** exp(x), with x limited to ±20. */
export const ratioOf = (x: number): number => Math.exp(limitLogRatio(x));

/** A ratio within the bounds of a loss. */
export const clipRatio = (
  ratio: number,
  { epsClip, epsClipHigh }: { readonly epsClip: number; readonly epsClipHigh: number },
): number => Math.min(Math.max(ratio, 1 - epsClip), 1 + epsClipHigh);

/** Whether the limit applies, so that the ratio has no gradient. */
export const isLimited = (x: number): boolean => Math.abs(x) > maxLogRatio;
