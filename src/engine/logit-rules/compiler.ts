/** Logit rules as they are sampled and trained with, for one vocabulary; grammars are compiled once each. */
import { AgentTrainerError } from "../../core/errors.ts";
import type { LogitRules } from "../../core/grammar.ts";
import type { Vocabulary } from "../../core/vocabulary.ts";
import { TokenGrammar, TokenMatcher, type MaskLimits } from "../../grammar/token-masks.ts";
import { buildTrie, type TokenTrie } from "../../grammar/token-trie.ts";
import { compileSchema } from "../../grammar/schema/compile-schema.ts";
import { schemaKey, type ReadySchemas } from "../../grammar/thread/compiled-schemas.ts";
import { notEnforced } from "./not-enforced.ts";
import { RuleState } from "./rule-state.ts";

/** Grammars that are kept; those used last stay. */
const maxGrammars = 64;

/** Rules whose grammar is compiled, for as many completions as there are. */
export interface CompiledRules {
  /** The rules at the first token of a completion. */
  start(limits: MaskLimits): RuleState;
}

export class LogitRuleCompiler {
  /** V */
  readonly size: number;
  readonly #grammars = new Map<string, TokenGrammar>();
  readonly #ready = new Map<string, ReadySchemas[number][1]>();
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

  /** Schemas that need not be compiled here. */
  add(schemas: ReadySchemas): void {
    // All of one request stay: a batch of training has as many as it has schemas.
    const most = Math.max(maxGrammars, schemas.length);
    for (const [key, schema] of schemas) keepNewest(this.#ready, key, schema, most);
  }

  /** @throws AgentTrainerError REQUEST_INVALID */
  compile(rules: LogitRules): CompiledRules {
    const grammar = rules.grammar === undefined ? null : this.#grammar(rules.grammar);
    return {
      start: (limits) =>
        new RuleState(
          this.size,
          rules,
          grammar === null ? null : new TokenMatcher(grammar, limits),
        ),
    };
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
        compiled = new TokenGrammar(
          grammar,
          this.#vocabulary,
          this.#trie,
          (schema) => this.#ready.get(schemaKey(schema)) ?? compileSchema(schema),
        );
      } catch (cause) {
        throw notEnforced(cause);
      }
    }
    keepNewest(this.#grammars, key, compiled);
    return compiled;
  }
}

function keepNewest<Value>(
  kept: Map<string, Value>,
  key: string,
  value: Value,
  most = maxGrammars,
): void {
  kept.delete(key);
  kept.set(key, value);
  for (const oldest of kept.keys()) {
    if (kept.size <= most) return;
    kept.delete(oldest);
  }
}
