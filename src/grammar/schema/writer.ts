/** What the rules of a schema's parts are written with. */
import type { Machine } from "../machine.ts";
import type { Language } from "../strings/language.ts";
import type { Schema } from "./keywords.ts";
import type { SchemaContext } from "./schema-context.ts";
import type { PlainSchema } from "./normalize.ts";

/** Adds states after `from`; returns the one where the part ends. */
export type Build = (from: number) => number;

export interface SchemaWriter {
  readonly machine: Machine;
  readonly context: SchemaContext;
  /** White space, which may be none. */
  space(from: number): number;
  /** A quoted string of `language`. */
  string(from: number, language: Language): number;
  /** The rule of a part. */
  rule(schema: Schema, path: string): number;
  /** The part without references and combinations: one of these. */
  alternatives(schema: Schema, path: string): readonly PlainSchema[];
}
