/** A `Grammar` to configurations, with the added tokens of a vocabulary as tags. */
import type { Grammar } from "../core/grammar.ts";
import { Configurations } from "./configurations.ts";
import { Machine } from "./machine.ts";
import { SchemaCompiler } from "./schema/compile-schema.ts";
import { SharedRules } from "./schema/shared-rules.ts";

/** Symbols from here on are tags. */
export const firstTag = 256;

export interface CompiledGrammar {
  /** What the schemas ask for beyond what is enforced, with its place: the texts may break it. */
  readonly unenforced: readonly string[];
  readonly configurations: Configurations;
  /** Text of each tag; symbol `firstTag + i` is tag i. */
  readonly tags: readonly string[];
}

class Compiler {
  readonly machine: Machine = new Machine();
  readonly tags: string[] = [];
  readonly unenforced: string[] = [];
  readonly #shared = new SharedRules(this.machine);
  readonly #isAdded: (text: string) => boolean;

  constructor(isAdded: (text: string) => boolean) {
    this.#isAdded = isAdded;
  }

  build(grammar: Grammar, from: number): number {
    const { machine } = this;
    switch (grammar.type) {
      case "literal":
        return machine.text(from, grammar.text);
      case "tag":
        return this.#tag(from, grammar.text);
      case "json": {
        const compiler = new SchemaCompiler(machine, this.#shared, grammar.schema, (what) =>
          this.unenforced.push(what),
        );
        return machine.call(from, compiler.rule(grammar.schema, "#"));
      }
      case "text":
        return this.#text(from, grammar.without);
      case "sequence":
        return grammar.parts.reduce((at, part) => this.build(part, at), from);
      case "choice": {
        const end = machine.state();
        for (const option of grammar.options) {
          const start = machine.state();
          machine.jump(from, start);
          machine.jump(this.build(option, start), end);
        }
        return end;
      }
      case "repeat": {
        const { part, min, max, separator } = grammar;
        const rule = machine.rule((start) => this.build(part, start));
        const end = machine.state();
        let at = from;
        const one = (start: number, i: number, to?: number): number =>
          machine.call(i === 0 ? start : machine.text(start, separator), rule, to);
        const counted = max ?? Math.max(1, min);
        for (let i = 0; i < counted; i++) {
          if (i >= min) machine.jump(at, end);
          at = one(at, i);
        }
        machine.jump(at, end);
        if (max === null) one(at, counted, at);
        return end;
      }
    }
  }

  #tag(from: number, text: string): number {
    if (!this.#isAdded(text)) return this.machine.text(from, text);
    let index = this.tags.indexOf(text);
    if (index === -1) index = this.tags.push(text) - 1;
    return this.machine.edge(from, firstTag + index, firstTag + index);
  }

  /** Bytes in which none of the texts is completed: the automaton of Aho and Corasick. */
  #text(from: number, without: readonly string[]): number {
    const { machine } = this;
    const words = without.map((text) => Buffer.from(text, "utf8").toString("latin1"));
    const prefixes = [
      ...new Set(["", ...words.flatMap((word) => Array.from(word, (_, i) => word.slice(0, i)))]),
    ];
    const states = new Map(prefixes.map((prefix) => [prefix, machine.state()]));
    const end = machine.state();
    machine.jump(from, states.get("")!);
    for (const [prefix, state] of states) {
      machine.jump(state, end);
      for (let byte = 0; byte < 256; byte++) {
        const read = prefix + String.fromCharCode(byte);
        if (words.some((word) => word !== "" && read.endsWith(word))) continue;
        let kept = read;
        while (!states.has(kept)) kept = kept.slice(1);
        machine.edge(state, byte, byte, states.get(kept));
      }
    }
    return end;
  }
}

/**
 * @param isAdded whether the vocabulary has an added token of this text
 * @throws GrammarError for what is no schema; RangeError for one that is too large.
 */
export function compileGrammar(
  grammar: Grammar,
  isAdded: (text: string) => boolean = () => false,
): CompiledGrammar {
  const compiler = new Compiler(isAdded);
  const rule = compiler.machine.rule((from) => compiler.build(grammar, from));
  const configurations = new Configurations(
    compiler.machine,
    rule,
    firstTag + compiler.tags.length,
  );
  return { configurations, tags: compiler.tags, unenforced: compiler.unenforced };
}
