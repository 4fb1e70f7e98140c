/**
 * What a run has spent, and whether another step fits into its budget. A step is expected to take as much
 * as the largest one so far; one that exceeds the budget nevertheless is cut off while it samples.
 */
import { AgentTrainerError } from "../../core/errors.ts";
import type { TokenPrices } from "../../core/prices.ts";
import { costOf, formatUsd, nothingUsed, tokensOf, type Usage } from "../../runs/spending.ts";

export interface BudgetOptions {
  /** What it ends, for messages. @default "run" */
  readonly what?: "run" | "evaluation";
  /** `budget.tokens` and `budget.usd`. */
  readonly tokens: number | null;
  readonly usd: number | null;
  /** null where they are unknown. */
  readonly prices: TokenPrices | null;
  /** Spent before this process. @default nothing */
  readonly before?: Usage | undefined;
  /** Keeps what the run has spent: at the end of each step, and about once a second in between. @default nothing */
  readonly keep?: (usage: Usage) => void;
  /** Milliseconds. @default performance.now */
  readonly now?: () => number;
}

interface Spent {
  readonly tokens: number;
  readonly usd: number | null;
}

const keepEveryMs = 1000;

const count = (tokens: number): string => tokens.toLocaleString("en-US");

export class Budget {
  readonly #options: BudgetOptions;
  readonly #before: Usage;
  readonly #now: () => number;
  readonly #startedAt: number;
  readonly #exceeded = new AbortController();
  #usage: Omit<Usage, "hours"> = nothingUsed;
  #usdPerHour = 0;
  #atStepStart: Spent;
  #largest: Spent = { tokens: 0, usd: 0 };
  #keptAt: number;

  constructor(options: BudgetOptions) {
    this.#options = options;
    this.#before = options.before ?? nothingUsed;
    this.#now = options.now ?? (() => performance.now());
    this.#startedAt = this.#now();
    this.#keptAt = this.#startedAt;
    this.#atStepStart = this.#spent;
  }

  /** Aborts when the budget is exceeded. */
  get signal(): AbortSignal {
    return this.#exceeded.signal;
  }

  /** Of hardware that is held for the run; from the start of this process. */
  paidByHour(usdPerHour: number): void {
    this.#usdPerHour = usdPerHour;
  }

  /** Of the whole run. */
  get usage(): Usage {
    const { prompt, sampled, trained, hours } = this.#before;
    const ownHours = this.#usdPerHour === 0 ? 0 : (this.#now() - this.#startedAt) / 3_600_000;
    return {
      prompt: prompt + this.#usage.prompt,
      sampled: sampled + this.#usage.sampled,
      trained: trained + this.#usage.trained,
      hours: hours + ownHours,
    };
  }

  /** Whether anything is limited or has a price, so that it is reported and stored. */
  get isReported(): boolean {
    const { tokens, usd, prices } = this.#options;
    return tokens !== null || usd !== null || prices !== null || this.#usdPerHour > 0;
  }

  get #spent(): Spent {
    const { prices } = this.#options;
    const usage = this.usage;
    const tokens = tokensOf(usage);
    if (prices === null && this.#usdPerHour === 0) return { tokens, usd: null };
    const ofTokens = prices === null ? 0 : costOf(usage, prices);
    return { tokens, usd: ofTokens + usage.hours * this.#usdPerHour };
  }

  add(part: Partial<Omit<Usage, "hours">>): void {
    const { prompt, sampled, trained } = this.#usage;
    this.#usage = {
      prompt: prompt + (part.prompt ?? 0),
      sampled: sampled + (part.sampled ?? 0),
      trained: trained + (part.trained ?? 0),
    };
    if (this.#now() - this.#keptAt >= keepEveryMs) this.keep();
    // An update must not be cut off: what it did could not be saved.
    if (part.sampled === undefined || this.signal.aborted) return;
    const why = this.#reason({ tokens: 0, usd: 0 });
    if (why !== null)
      this.#exceeded.abort(new AgentTrainerError({ code: "ABORTED", message: why }));
  }

  /** Keeps what is spent so far, where anything is counted. */
  keep(): void {
    this.#keptAt = this.#now();
    if (this.isReported) this.#options.keep?.(this.usage);
  }

  stepBegins(): void {
    this.#atStepStart = this.#spent;
  }

  stepEnds(): void {
    const { tokens, usd } = this.#spent;
    const before = this.#atStepStart;
    this.#largest = {
      tokens: Math.max(this.#largest.tokens, tokens - before.tokens),
      usd: Math.max(this.#largest.usd ?? 0, (usd ?? 0) - (before.usd ?? 0)),
    };
    this.keep();
  }

  /** Why no further step begins, as a sentence; null when one does. */
  get whyStop(): string | null {
    return this.#reason(this.#largest);
  }

  #reason(next: Spent): string | null {
    const { what = "run", tokens, usd } = this.#options;
    const spent = this.#spent;
    const step = (text: string): string => `, and a step takes up to ${text}`;
    if (tokens !== null && (spent.tokens >= tokens || spent.tokens + next.tokens > tokens))
      return `budget.tokens=${tokens} ends the ${what}: ${count(spent.tokens)} tokens are spent${next.tokens > 0 ? step(count(next.tokens)) : ""}.`;
    if (usd === null || spent.usd === null) return null;
    const nextUsd = next.usd ?? 0;
    if (spent.usd < usd && spent.usd + nextUsd <= usd) return null;
    return `budget.usd=${usd} ends the ${what}: ${formatUsd(spent.usd)} are spent${nextUsd > 0 ? step(formatUsd(nextUsd)) : ""}.`;
  }

  /** `spent/...`, of the whole run. */
  metrics(): Record<string, number> {
    if (!this.isReported) return {};
    const { prompt, sampled, trained } = this.usage;
    const { tokens, usd } = this.#spent;
    return {
      "spent/prompt_tokens": prompt,
      "spent/sampled_tokens": sampled,
      "spent/trained_tokens": trained,
      "spent/tokens": tokens,
      ...(usd === null ? {} : { "spent/usd": usd }),
    };
  }
}
