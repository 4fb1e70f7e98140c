/** What a run has used so far, and what that costs. */
import type { TokenPrices } from "../core/prices.ts";

/** Tokens that a service bills, and the hours for which hardware was held. */
export interface Usage {
  readonly prompt: number;
  readonly sampled: number;
  readonly trained: number;
  readonly hours: number;
}

export const nothingUsed: Usage = { prompt: 0, sampled: 0, trained: 0, hours: 0 };

export const tokensOf = ({ prompt, sampled, trained }: Usage): number => prompt + sampled + trained;

/** USD of tokens. */
export function costOf(usage: Omit<Usage, "hours">, prices: TokenPrices): number {
  const { prompt, sampled, trained } = usage;
  return (prompt * prices.prompt + sampled * prices.sampled + trained * prices.trained) / 1e6;
}

/** `0.0123` → `$0.0123`, `12.345` → `$12.35`. */
export const formatUsd = (usd: number): string => `$${usd.toFixed(usd > 0 && usd < 0.1 ? 4 : 2)}`;
