/** JSON Schema to rules of a machine. White space: none, a space, or a line break with indentation. */
import type { JsonValue } from "../../core/message.ts";
import { distances } from "../distances.ts";
import { GrammarError } from "../grammar-error.ts";
import { Machine, type MachineData } from "../machine.ts";
import { emit, anyCharacter } from "../strings/emit.ts";
import type { Language } from "../strings/language.ts";
import { writeArray } from "./array-rule.ts";
import { checkDepth } from "./check-depth.ts";
import { validConstants } from "./constants.ts";
import { impliedTypes } from "./implied-types.ts";
import { isObject, type Schema } from "./keywords.ts";
import { Normalizer, type PlainSchema } from "./normalize.ts";
import { writeObject } from "./object-rule.ts";
import type { SchemaContext } from "./schema-context.ts";
import { ValueIds } from "./value-ids.ts";
import { numbersOf, stringsOf } from "./value-languages.ts";
import { WorkBudget } from "../work-budget.ts";
import type { Build, SchemaWriter } from "./writer.ts";

/** Spaces that a line break may be followed by. */
const indent = 20;

/** Rules that all schemas of a machine share: a character of a string, white space. */
class SharedRules {
  readonly character: number;
  readonly space: number;

  constructor(machine: Machine) {
    this.character = anyCharacter(machine);
    this.space = machine.rule((from) => {
      const end = machine.state();
      machine.jump(from, end);
      machine.jump(machine.text(from, " "), end);
      let at = machine.text(from, "\n");
      for (let i = 0; i < indent; i++) {
        machine.jump(at, end);
        const next = machine.text(at, " ");
        machine.edge(at, 9, 9, next);
        at = next;
      }
      machine.jump(at, end);
      return end;
    });
  }
}

/** A schema as the only rule 0 of a machine that others append, and what it asks for beyond that. */
export interface CompiledSchema {
  readonly machine: MachineData;
  /** [state] as `distances` finds them. */
  readonly distance: Float64Array;
  /** With its place: the texts may break it. */
  readonly unenforced: readonly string[];
}

/**
 * Bounded work, whatever the schema.
 * @throws GrammarError for what is no schema, or one that no value is valid under; GrammarLimitError for one that takes too many steps.
 */
export function compileSchema(
  schema: Schema,
  budget: WorkBudget = new WorkBudget(),
): CompiledSchema {
  checkDepth(schema, budget);
  const machine = new Machine(budget);
  const whole = machine.declare();
  const unenforced: string[] = [];
  const report = (what: string): void => {
    budget.spend(10);
    unenforced.push(what);
  };
  const context: SchemaContext = { report, budget, values: new ValueIds(budget) };
  const compiler = new SchemaCompiler(machine, schema, context);
  machine.define(whole, (from) => machine.call(from, compiler.rule(schema, "#")));
  const data = machine.finish();
  const distance = distances(data);
  if (distance[data.rules[whole]!] === Infinity)
    throw new GrammarError("#", "no value is valid under this schema");
  return { machine: data, distance, unenforced: [...new Set(unenforced)] };
}

class SchemaCompiler implements SchemaWriter {
  readonly machine: Machine;
  readonly context: SchemaContext;
  readonly #shared: SharedRules;
  readonly #normalizer: Normalizer;
  readonly #rules = new Map<number, number>();

  constructor(machine: Machine, root: Schema, context: SchemaContext) {
    this.machine = machine;
    this.context = context;
    this.#shared = new SharedRules(machine);
    this.#normalizer = new Normalizer(root, context);
  }

  /** The rule of a schema. Equal schemas have one rule, and so do recursive ones. @throws GrammarError */
  rule(schema: Schema, path: string): number {
    const key = this.context.values.idOf(schema);
    const known = this.#rules.get(key);
    if (known !== undefined) return known;
    const rule = this.machine.declare();
    this.#rules.set(key, rule);
    const alternatives = this.alternatives(schema, path);
    this.machine.define(rule, this.#choice(alternatives.map((plain) => this.#plain(plain, path))));
    return rule;
  }

  alternatives(schema: Schema, path: string): readonly PlainSchema[] {
    return this.#normalizer.alternatives(schema, path);
  }

  space(from: number): number {
    return this.machine.call(from, this.#shared.space);
  }

  string(from: number, language: Language): number {
    return emit(this.machine, from, language, { json: true, any: this.#shared.character });
  }

  #choice(options: readonly Build[]): Build {
    return (from) => {
      const end = this.machine.state();
      for (const option of options) {
        const start = this.machine.state();
        this.machine.jump(from, start);
        this.machine.jump(option(start), end);
      }
      return end;
    };
  }

  #plain(plain: PlainSchema, path: string): Build {
    const { values, types } = plain;
    if (values === null)
      return this.#choice(
        (types ?? impliedTypes(plain)).map(
          (type): Build =>
            (from) =>
              this.#type(type, from, plain, path),
        ),
      );
    return (from) => {
      const valid = validConstants(plain, values, path, this.context);
      const isSimple = (value: JsonValue): boolean => typeof value !== "object" || value === null;
      const texts = valid.filter(isSimple).map((value) => JSON.stringify(value));
      const others = valid
        .filter((value) => !isSimple(value))
        .map(
          (value): Build =>
            (at) =>
              this.#constant(at, value),
        );
      return this.#choice([(at) => this.machine.texts(at, texts), ...others])(from);
    };
  }

  #type(type: string, from: number, plain: PlainSchema, path: string): number {
    switch (type) {
      case "string":
        return this.string(from, stringsOf(plain, path, this.context));
      case "number":
      case "integer":
        return emit(this.machine, from, numbersOf(plain, type === "integer", path, this.context));
      case "boolean":
        return this.#choice([true, false].map((value) => (at) => this.#constant(at, value)))(from);
      case "null":
        return this.#constant(from, null);
      case "array":
        return writeArray(this, from, plain, path);
      case "object":
        return writeObject(this, from, plain, path);
      default:
        throw new GrammarError(path, `"${type}" is not a type`);
    }
  }

  /** With the white space that all values may have. */
  #constant(from: number, value: JsonValue): number {
    const { machine } = this;
    const list = (open: string, close: string, items: readonly Build[]): number => {
      let at = this.space(machine.text(from, open));
      for (const [i, item] of items.entries()) {
        if (i > 0) at = this.space(machine.text(at, ","));
        at = item(at);
      }
      return machine.text(items.length === 0 ? at : this.space(at), close);
    };
    if (Array.isArray(value)) {
      const elements = value as readonly JsonValue[];
      return list(
        "[",
        "]",
        elements.map((item) => (at) => this.#constant(at, item)),
      );
    }
    if (!isObject(value)) return machine.text(from, JSON.stringify(value));
    const fields = Object.entries(value).map(([key, field]): Build => (at) => {
      const named = machine.text(at, `${JSON.stringify(key)}:`);
      return this.#constant(this.space(named), field);
    });
    return list("{", "}", fields);
  }
}
