/** What a run has used so far, and what that costs. */
import type { TokenPrices } from "../core/prices.ts";

/** Tokens that a service bills, the hours for which hardware was held, and the minutes that it took. */
export interface Usage {
  readonly prompt: number;
  readonly sampled: number;
  readonly trained: number;
  /** Of hardware that is paid by the hour. */
  readonly hours: number;
  /** On the clock, of all processes. */
  readonly minutes: number;
}

export const nothingUsed: Usage = { prompt: 0, sampled: 0, trained: 0, hours: 0, minutes: 0 };

/** Those of a usage. */
export type Tokens = Pick<Usage, "prompt" | "sampled" | "trained">;

export const tokensOf = ({ prompt, sampled, trained }: Tokens): number =>
  prompt + sampled + trained;

/** USD of tokens. */
export function costOf(usage: Tokens, prices: TokenPrices): number {
  const { prompt, sampled, trained } = usage;
  return (prompt * prices.prompt + sampled * prices.sampled + trained * prices.trained) / 1e6;
}

/** `0.0123` → `$0.0123`, `12.345` → `$12.35`. */
export const formatUsd = (usd: number): string => `$${usd.toFixed(usd > 0 && usd < 0.1 ? 4 : 2)}`;
