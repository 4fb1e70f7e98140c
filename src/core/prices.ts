/**
 * Published prices of services, with where and when each was read. Prices change: `budget.prices` replaces
 * them. A model that is not listed has no known price; none is guessed.
 */

/** USD per million tokens. */
export interface TokenPrices {
  /** Prompts of samples. */
  readonly prompt: number;
  /** Tokens that are sampled. */
  readonly sampled: number;
  /** Tokens of sequences in forward passes of training, with or without gradients. */
  readonly trained: number;
}

/** A row of the table. */
export interface PriceRow {
  readonly backend: string;
  /** As `model.name`. */
  readonly model: string;
  readonly prices: TokenPrices;
  readonly source: string;
  /** When it was read: YYYY-MM-DD. */
  readonly date: string;
}

/** By the tokens that a service bills. */
export const tokenPriceRows: readonly PriceRow[] = [
  {
    backend: "tinker",
    model: "Qwen/Qwen3-8B",
    prices: { prompt: 0.195, sampled: 0.6, trained: 0.44 },
    source: "https://tinker-docs.thinkingmachines.ai/tinker/models/",
    date: "2026-10-07",
  },
];

/** USD per hour of one GPU of a dedicated trainer or deployment of Fireworks, by `acceleratorType`. */
export const gpuHourPrices = {
  source: "https://docs.fireworks.ai/fine-tuning/multi-turn-cost-comparison",
  date: "2026-11-22",
  usd: {
    NVIDIA_H100_80GB: 7,
    NVIDIA_H200_141GB: 7,
    NVIDIA_B200_180GB: 10,
    NVIDIA_B300_288GB: 12,
  } as Readonly<Record<string, number>>,
} as const;
