/**
 * Logit rules at one place of a completion. Adding b to logits is multiplying probabilities by exp(b) and
 * dividing by their sum, so they apply to a softmax as well.
 */
import { AgentTrainerError } from "../../core/errors.ts";
import type { LogitRules } from "../../core/grammar.ts";
import { isAllowed, type TokenMask, type TokenMatcher } from "../../grammar/token-masks.ts";
import { GrammarLimitError } from "../../grammar/work-budget.ts";
import { notEnforced } from "./not-enforced.ts";

/** What is added to the logits of the next token. */
export interface LogitBias {
  /** Tokens without a bit are removed; null for none. */
  readonly mask: TokenMask | null;
  /** Added to single tokens; empty for nothing. */
  readonly added: ReadonlyMap<number, number>;
}

/** Below it, 32-bit probabilities are too coarse to renormalize. */
const leastMass = 1e-30;

export class RuleState {
  readonly #size: number;
  readonly #rules: LogitRules;
  readonly #matcher: TokenMatcher | null;
  readonly #constant: ReadonlyMap<number, number>;
  readonly #counts = new Map<number, number>();
  /** Reused: valid until the next call. */
  #scratch: Float32Array | undefined;

  constructor(size: number, rules: LogitRules, matcher: TokenMatcher | null) {
    this.#size = size;
    this.#rules = rules;
    this.#matcher = matcher;
    this.#constant = new Map(rules.bias?.filter(([token]) => token < size));
  }

  /** Null where nothing changes. */
  bias(): LogitBias | null {
    const mask = this.#follow((matcher) => matcher.mask()) ?? null;
    const added = this.#added();
    const isFree = mask === null || mask.count === this.#size;
    if (isFree && added.size === 0) return null;
    return { mask: isFree ? null : mask, added };
  }

  /** @see TokenMatcher.neededTokens */
  get neededTokens(): number | null {
    return this.#follow((matcher) => matcher.neededTokens) ?? null;
  }

  accept(token: number): void {
    this.#follow((matcher) => matcher.accept(token));
    const { presencePenalty = 0, frequencyPenalty = 0 } = this.#rules;
    if (presencePenalty === 0 && frequencyPenalty === 0) return;
    this.#counts.set(token, (this.#counts.get(token) ?? 0) + 1);
  }

  /** @throws AgentTrainerError REQUEST_INVALID where the grammar leaves too much open. */
  #follow<Found>(step: (matcher: TokenMatcher) => Found): Found | undefined {
    if (this.#matcher === null) return undefined;
    try {
      return step(this.#matcher);
    } catch (cause) {
      throw cause instanceof GrammarLimitError ? notEnforced(cause) : cause;
    }
  }

  #added(): ReadonlyMap<number, number> {
    if (this.#counts.size === 0) return this.#constant;
    const { presencePenalty = 0, frequencyPenalty = 0 } = this.#rules;
    const added = new Map(this.#constant);
    for (const [token, count] of this.#counts)
      added.set(token, (added.get(token) ?? 0) - presencePenalty - count * frequencyPenalty);
    return added;
  }

  /**
   * The probabilities that the rules leave; the argument itself where they change nothing.
   * @param probabilities [V] softmax at temperature 1
   * @throws AgentTrainerError where no token is left, or none that has a probability.
   */
  apply(probabilities: Float32Array): Float32Array {
    const bias = this.bias();
    if (bias === null) return probabilities;
    const { mask, added } = bias;
    if (mask?.count === 0)
      throw this.#stuck("no token of this model's vocabulary continues the text");
    const left = (this.#scratch ??= new Float32Array(this.#size));
    if (mask === null) left.set(probabilities.subarray(0, this.#size));
    else maskInto(left, probabilities, mask);
    const mass = sumOf(left);
    if (!(mass >= leastMass))
      throw this.#stuck(`the model gives all tokens that are allowed a probability of ${mass}`);
    if (added.size > 0) addBias(left, added);
    const scale = 1 / (added.size > 0 ? sumOf(left) : mass);
    for (let v = 0; v < left.length; v++) left[v]! *= scale;
    return left;
  }

  #stuck(reason: string): AgentTrainerError {
    return new AgentTrainerError({
      code: "NUMERICS",
      message: `A response format could not be followed: ${reason}.`,
      hint: "Describe the format in the prompt, so that the model expects it.",
    });
  }
}

function sumOf(values: Float32Array): number {
  let sum = 0;
  for (let v = 0; v < values.length; v++) sum += values[v]!;
  return sum;
}

/**
 * Multiplies by exp(bias), over the largest of the products: 100 makes a token the only one, and -100 on all
 * that are left changes nothing, without a number that overflows or vanishes.
 */
function addBias(left: Float32Array, added: ReadonlyMap<number, number>): void {
  const exponents = Array.from(
    added,
    ([token, value]) => [token, Math.log(left[token]!) + value] as const,
  );
  for (const token of added.keys()) left[token] = 0;
  const most = exponents.reduce((max, [, own]) => Math.max(max, own), Math.log(sumOf(left)));
  const scale = Math.exp(-most);
  for (let v = 0; v < left.length; v++) left[v]! *= scale;
  for (const [token, own] of exponents) left[token] = Math.exp(own - most);
}

function maskInto(left: Float32Array, probabilities: Float32Array, mask: TokenMask): void {
  const { bits, count } = mask;
  left.fill(0);
  // Bit by bit only where there are many.
  if (count === 1) {
    left[mask.first] = probabilities[mask.first]!;
    return;
  }
  for (let word = 0; word < bits.length; word++) {
    let rest = bits[word]!;
    while (rest !== 0) {
      const bit = 31 - Math.clz32(rest);
      const v = word * 32 + bit;
      left[v] = probabilities[v]!;
      rest = (rest & ~(1 << bit)) >>> 0;
    }
  }
}

/** Writes `bias` into a row of logits, [V]; `scale` is 1 over the temperature. */
export function writeBias(row: Float32Array, { mask, added }: LogitBias, scale: number): void {
  if (mask !== null) for (let v = 0; v < row.length; v++) row[v] = isAllowed(mask, v) ? 0 : removed;
  for (const [token, value] of added) row[token]! += value * scale;
}

/** As a logit: no probability, and no overflow in a difference. */
const removed = -1e9;
