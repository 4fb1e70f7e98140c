/** What the rules of a schema's parts are written with. */
import type { Machine } from "../machine.ts";
import type { Language } from "../strings/language.ts";
import type { OnUnenforced, Schema } from "./keywords.ts";
import type { PlainSchema } from "./normalize.ts";

/** Adds states after `from`; returns the one where the part ends. */
export type Build = (from: number) => number;

export interface SchemaWriter {
  readonly machine: Machine;
  /** Told what a schema says that is not enforced. */
  readonly report: OnUnenforced;
  /** White space, which may be none. */
  space(from: number): number;
  /** A quoted string of `language`. @throws GrammarError for one that has too many states */
  string(from: number, language: Language, path: string): number;
  /** The rule of a part. */
  rule(schema: Schema, path: string): number;
  /** The part without references and combinations: one of these. */
  alternatives(schema: Schema, path: string): readonly PlainSchema[];
}
