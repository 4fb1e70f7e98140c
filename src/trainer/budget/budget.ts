/**
 * What a run has spent, and whether another step fits into its budget. A step is expected to take as much
 * as the largest one so far; one that exceeds the budget nevertheless is cut off while it samples.
 */
import { AgentTrainerError } from "../../core/errors.ts";
import type { TokenPrices } from "../../core/prices.ts";
import {
  costOf,
  formatUsd,
  nothingUsed,
  type Tokens,
  tokensOf,
  type Usage,
} from "../../runs/spending.ts";

export interface BudgetOptions {
  /** What it ends, for messages. @default "run" */
  readonly what?: "run" | "evaluation";
  /** `budget.tokens` and `budget.usd`. */
  readonly tokens: number | null;
  readonly usd: number | null;
  /** `budget.minutes`. @default null */
  readonly minutes?: number | null;
  /** null where they are unknown. */
  readonly prices: TokenPrices | null;
  /** Spent before this process. @default nothing */
  readonly before?: Spending | undefined;
  /** Keeps what the run has spent: at the end of each step, and about once a second in between. @default nothing */
  readonly keep?: (spending: Spending) => void;
  /** Milliseconds. @default performance.now */
  readonly now?: () => number;
}

/** What a step took, or all of them. */
interface Spent {
  readonly tokens: number;
  readonly usd: number | null;
  readonly minutes: number;
}

/** What a run has spent, as it is kept for the next process. */
export interface Spending {
  readonly usage: Usage;
  /** Of a step, in each unit; by it the next process knows whether another one fits. */
  readonly largestStep: Spent;
}

const keepEveryMs = 1000;

export const nothingSpent: Spent = { tokens: 0, usd: 0, minutes: 0 };

const count = (tokens: number): string => tokens.toLocaleString("en-US");
const digits = (minutes: number): string => String(Number(minutes.toPrecision(3)));

export class Budget {
  readonly #options: BudgetOptions;
  readonly #before: Usage;
  readonly #now: () => number;
  readonly #startedAt: number;
  readonly #exceeded = new AbortController();
  #usage: Tokens = nothingUsed;
  #usdPerHour = 0;
  #atStepStart: Spent;
  #largest: Spent;
  #keptAt: number;

  constructor(options: BudgetOptions) {
    this.#options = options;
    this.#before = options.before?.usage ?? nothingUsed;
    this.#largest = options.before?.largestStep ?? nothingSpent;
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
    const { prompt, sampled, trained, hours, minutes } = this.#before;
    const ownMinutes = (this.#now() - this.#startedAt) / 60_000;
    return {
      prompt: prompt + this.#usage.prompt,
      sampled: sampled + this.#usage.sampled,
      trained: trained + this.#usage.trained,
      hours: hours + (this.#usdPerHour === 0 ? 0 : ownMinutes / 60),
      minutes: minutes + ownMinutes,
    };
  }

  /** Whether anything is limited or has a price, so that it is reported and stored. */
  get isReported(): boolean {
    const { tokens, usd, minutes = null, prices } = this.#options;
    const isLimited = tokens !== null || usd !== null || minutes !== null;
    return isLimited || prices !== null || this.#usdPerHour > 0;
  }

  get #spent(): Spent {
    const { prices } = this.#options;
    const usage = this.usage;
    const spent = { tokens: tokensOf(usage), minutes: usage.minutes };
    if (prices === null && this.#usdPerHour === 0) return { ...spent, usd: null };
    const ofTokens = prices === null ? 0 : costOf(usage, prices);
    return { ...spent, usd: ofTokens + usage.hours * this.#usdPerHour };
  }

  add(part: Partial<Tokens>): void {
    const { prompt, sampled, trained } = this.#usage;
    this.#usage = {
      prompt: prompt + (part.prompt ?? 0),
      sampled: sampled + (part.sampled ?? 0),
      trained: trained + (part.trained ?? 0),
    };
    if (this.#now() - this.#keptAt >= keepEveryMs) this.keep();
    // An update must not be cut off: what it did could not be saved.
    if (part.sampled === undefined || this.signal.aborted) return;
    const why = this.#reason(nothingSpent);
    if (why !== null)
      this.#exceeded.abort(new AgentTrainerError({ code: "ABORTED", message: why }));
  }

  /** Keeps what is spent so far, where anything is counted. */
  keep(): void {
    this.#keptAt = this.#now();
    if (this.isReported) this.#options.keep?.({ usage: this.usage, largestStep: this.#largest });
  }

  stepBegins(): void {
    this.#atStepStart = this.#spent;
  }

  stepEnds(): void {
    const { tokens, usd, minutes } = this.#spent;
    const before = this.#atStepStart;
    this.#largest = {
      tokens: Math.max(this.#largest.tokens, tokens - before.tokens),
      usd: Math.max(this.#largest.usd ?? 0, (usd ?? 0) - (before.usd ?? 0)),
      minutes: Math.max(this.#largest.minutes, minutes - before.minutes),
    };
    this.keep();
  }

  /** Why no further step begins, as a sentence; null when one does. */
  get whyStop(): string | null {
    return this.#reason(this.#largest);
  }

  #reason(next: Spent): string | null {
    const { what = "run", tokens, usd, minutes = null } = this.#options;
    const spent = this.#spent;
    const step = (text: string): string => `, and a step takes up to ${text}`;
    if (tokens !== null && (spent.tokens >= tokens || spent.tokens + next.tokens > tokens))
      return `budget.tokens=${tokens} ends the ${what}: ${count(spent.tokens)} tokens are spent${next.tokens > 0 ? step(count(next.tokens)) : ""}.`;
    if (minutes !== null && (spent.minutes >= minutes || spent.minutes + next.minutes > minutes))
      return `budget.minutes=${minutes} ends the ${what}: ${digits(spent.minutes)} minutes are spent${next.minutes > 0 ? step(`${digits(next.minutes)} minutes`) : ""}.`;
    if (usd === null || spent.usd === null) return null;
    const nextUsd = next.usd ?? 0;
    if (spent.usd < usd && spent.usd + nextUsd <= usd) return null;
    return `budget.usd=${usd} ends the ${what}: ${formatUsd(spent.usd)} are spent${nextUsd > 0 ? step(formatUsd(nextUsd)) : ""}.`;
  }

  /** `spent/...`, of the whole run. */
  metrics(): Record<string, number> {
    if (!this.isReported) return {};
    const { prompt, sampled, trained, minutes } = this.usage;
    const { tokens, usd } = this.#spent;
    const isTimed = (this.#options.minutes ?? null) !== null;
    return {
      "spent/prompt_tokens": prompt,
      "spent/sampled_tokens": sampled,
      "spent/trained_tokens": trained,
      "spent/tokens": tokens,
      ...(usd === null ? {} : { "spent/usd": usd }),
      ...(isTimed ? { "time/spent_s": minutes * 60 } : {}),
    };
  }
}
