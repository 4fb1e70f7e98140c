/** A `Grammar` to one machine, with the added tokens of a vocabulary as tags. */
import type { Grammar } from "../core/grammar.ts";
import type { JsonValue } from "../core/message.ts";
import { distances, type KnownDistances } from "./distances.ts";
import { Machine, type MachineData } from "./machine.ts";
import { compileSchema, type CompiledSchema } from "./schema/compile-schema.ts";
import { WorkBudget } from "./work-budget.ts";

/** Symbols from here on are tags. */
export const firstTag = 256;

export interface CompiledGrammar {
  readonly machine: MachineData;
  /** [state] as `distances` finds them. */
  readonly distance: Float64Array;
  /** Its whole text. */
  readonly rule: number;
  /** Text of each tag; symbol `firstTag + i` is tag i. */
  readonly tags: readonly string[];
}

/** Where schemas come from that have been compiled already. */
export type SchemaSource = (schema: JsonValue) => CompiledSchema;

/** All schemas of one completion, and what is around them. */
const grammarSteps = 6_000_000;

class Compiler {
  readonly budget: WorkBudget = new WorkBudget(grammarSteps);
  readonly machine: Machine = new Machine(this.budget);
  readonly tags: string[] = [];
  readonly known: KnownDistances[] = [];
  readonly #isAdded: (text: string) => boolean;
  readonly #schemas: SchemaSource;
  readonly #rules = new Map<CompiledSchema, number>();

  constructor(isAdded: (text: string) => boolean, schemas: SchemaSource) {
    this.#isAdded = isAdded;
    this.#schemas = schemas;
  }

  build(grammar: Grammar, from: number): number {
    const { machine } = this;
    switch (grammar.type) {
      case "literal":
        return machine.text(from, grammar.text);
      case "tag":
        return this.#tag(from, grammar.text);
      case "json": {
        const compiled = this.#schemas(grammar.schema);
        return machine.call(from, this.#rules.get(compiled) ?? this.#append(compiled));
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

  #append(compiled: CompiledSchema): number {
    this.budget.spend(compiled.machine.edges.length / 4);
    this.known.push({ from: this.machine.size, distance: compiled.distance });
    const rule = this.machine.append(compiled.machine);
    this.#rules.set(compiled, rule);
    return rule;
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
 * @throws GrammarError for what is no schema; GrammarLimitError for what takes too many steps.
 */
export function compileGrammar(
  grammar: Grammar,
  isAdded: (text: string) => boolean = () => false,
  schemas: SchemaSource = compileSchema,
): CompiledGrammar {
  const compiler = new Compiler(isAdded, schemas);
  const rule = compiler.machine.rule((from) => compiler.build(grammar, from));
  const machine = compiler.machine.finish();
  return { machine, distance: distances(machine, compiler.known), rule, tags: compiler.tags };
}
