/** JSON Schema to rules of a machine. White space: none, a space, or a line break with indentation. */
import type { JsonValue } from "../../core/message.ts";
import { GrammarError } from "../grammar-error.ts";
import type { Machine } from "../machine.ts";
import { emit } from "../strings/emit.ts";
import type { Language } from "../strings/language.ts";
import { writeArray } from "./array-rule.ts";
import { isValidConstant } from "./constants.ts";
import { impliedTypes } from "./implied-types.ts";
import { isObject, type OnUnenforced, type Schema } from "./keywords.ts";
import { canonical, Normalizer, type PlainSchema } from "./normalize.ts";
import { writeObject } from "./object-rule.ts";
import type { SharedRules } from "./shared-rules.ts";
import { numbersOf, stringsOf } from "./value-languages.ts";
import type { Build, SchemaWriter } from "./writer.ts";

export class SchemaCompiler implements SchemaWriter {
  readonly machine: Machine;
  readonly report: OnUnenforced;
  readonly #shared: SharedRules;
  readonly #normalizer: Normalizer;
  readonly #rules = new Map<string, number>();

  constructor(machine: Machine, shared: SharedRules, root: Schema, report: OnUnenforced) {
    this.machine = machine;
    this.report = report;
    this.#shared = shared;
    this.#normalizer = new Normalizer(root, report);
  }

  /** The rule of a schema. Equal schemas have one rule, and so do recursive ones. @throws GrammarError */
  rule(schema: Schema, path: string): number {
    const key = canonical(schema);
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

  string(from: number, language: Language, path: string): number {
    try {
      return emit(this.machine, from, language, { json: true, any: this.#shared.character });
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      throw new GrammarError(path, `the string ${error.message}`);
    }
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
    const valid = values.filter((value) => isValidConstant(value, plain, path, this.report));
    return this.#choice(valid.map((value) => (from) => this.#constant(from, value)));
  }

  #type(type: string, from: number, plain: PlainSchema, path: string): number {
    switch (type) {
      case "string":
        return this.string(from, stringsOf(plain, path, this.report), path);
      case "number":
      case "integer":
        return emit(this.machine, from, numbersOf(plain, type === "integer", path, this.report));
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
