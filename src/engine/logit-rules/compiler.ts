/** Logit rules as they are sampled and trained with, for one vocabulary; grammars are compiled once each. */
import { AgentTrainerError } from "../../core/errors.ts";
import type { LogitRules } from "../../core/grammar.ts";
import type { Vocabulary } from "../../core/vocabulary.ts";
import { TokenGrammar, TokenMatcher, type MaskLimits } from "../../grammar/token-masks.ts";
import { buildTrie, type TokenTrie } from "../../grammar/token-trie.ts";
import { RuleState } from "./rule-state.ts";

/** Grammars that are kept; those used last stay. */
const maxGrammars = 64;

export class LogitRuleCompiler {
  /** V */
  readonly size: number;
  readonly #grammars = new Map<string, TokenGrammar>();
  #vocabulary: Vocabulary | undefined;
  #trie: TokenTrie | undefined;

  /** @param size of the model's vocabulary, V */
  constructor(size: number) {
    this.size = size;
  }

  set vocabulary(vocabulary: Vocabulary) {
    this.#vocabulary = vocabulary;
    this.#trie = undefined;
    this.#grammars.clear();
  }

  /** The rules at the first token of a completion. @throws AgentTrainerError REQUEST_INVALID */
  start(rules: LogitRules, limits: MaskLimits): RuleState {
    const matcher =
      rules.grammar === undefined ? null : new TokenMatcher(this.#grammar(rules.grammar), limits);
    return new RuleState(this.size, rules, matcher);
  }

  #grammar(grammar: NonNullable<LogitRules["grammar"]>): TokenGrammar {
    const key = JSON.stringify(grammar);
    let compiled = this.#grammars.get(key);
    if (compiled === undefined) {
      if (this.#vocabulary === undefined) {
        throw new AgentTrainerError({
          code: "REQUEST_INVALID",
          message:
            "A response format cannot be enforced: the bytes of this model's tokens are not known.",
          hint: "Leave the format out. It needs a byte-level vocabulary, or one with byte fallback.",
        });
      }
      this.#trie ??= buildTrie(this.#vocabulary);
      try {
        compiled = new TokenGrammar(grammar, this.#vocabulary, this.#trie);
      } catch (cause) {
        throw new AgentTrainerError({
          code: "REQUEST_INVALID",
          message: `A response format cannot be enforced: ${(cause as Error).message}`,
          hint: "Simplify the schema.",
          cause,
        });
      }
    }
    this.#grammars.delete(key);
    this.#grammars.set(key, compiled);
    if (this.#grammars.size > maxGrammars) {
      const [oldest] = this.#grammars.keys();
      this.#grammars.delete(oldest!);
    }
    return compiled;
  }
}
