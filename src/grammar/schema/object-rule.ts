/**
 * Objects. Properties come in the order of the schema; where `properties` are given and
 * `additionalProperties` is not, there are no others.
 */
import { includes } from "../strings/language.ts";
import type { Schema } from "./keywords.ts";
import type { PlainSchema } from "./normalize.ts";
import { unnamedProperties } from "./unnamed-properties.ts";
import { limitOf, namesOf } from "./value-languages.ts";
import type { Build, SchemaWriter } from "./writer.ts";

/** The schema of a required property that `properties` does not have. */
function undeclared(plain: PlainSchema, name: string, others: Schema, path: string): Schema {
  for (const [pattern, schema] of plain.patternProperties)
    if (includes(namesOf(pattern, path), name)) return schema;
  return others;
}

export function writeObject(
  writer: SchemaWriter,
  from: number,
  plain: PlainSchema,
  path: string,
): number {
  const { machine } = writer;
  const { required, additional, patternProperties } = plain;
  const names = [...plain.properties.keys()];
  const isClosed = additional === undefined && (names.length > 0 || patternProperties.size > 0);
  const others: Schema = isClosed ? false : (additional ?? true);
  const properties = [
    ...names.map((name) => ({ name, schema: plain.properties.get(name)! })),
    ...required
      .filter((name) => !names.includes(name))
      .map((name) => ({ name, schema: undeclared(plain, name, isClosed ? true : others, path) })),
  ];
  const least = limitOf(plain, "minProperties", 0, path);
  const min = least <= required.length ? 0 : least;
  const max = limitOf(plain, "maxProperties", Infinity, path);
  const cap = max === Infinity ? Math.max(1, min) : max;
  const end = machine.state();
  const open = writer.space(machine.text(from, "{"));
  const states = new Map<string, number>();
  // `count` properties so far, of those before `index`.
  const place = (index: number, count: number): number => {
    const key = `${index}/${count}`;
    const known = states.get(key);
    if (known !== undefined) return known;
    const state = index + count === 0 ? open : machine.state();
    states.set(key, state);
    return state;
  };
  const isReached = (index: number, count: number): boolean => states.has(`${index}/${count}`);
  const entry = (
    at: number,
    count: number,
    key: Build,
    property: { readonly schema: Schema; readonly path: string },
    to: number,
  ): void => {
    const begun = count === 0 ? at : writer.space(machine.text(at, ","));
    const value = writer.space(machine.text(key(begun), ":"));
    machine.call(value, writer.rule(property.schema, property.path), to);
  };
  const more = (count: number): number => Math.min(count + 1, max === Infinity ? cap : cap + 1);

  for (const [index, { name, schema }] of properties.entries()) {
    for (let count = 0; count <= Math.min(index, cap); count++) {
      if (!isReached(index, count) && index > 0) continue;
      const at = place(index, count);
      if (!required.includes(name)) machine.jump(at, place(index + 1, count));
      if (max !== Infinity && count >= max) continue;
      const key: Build = (start) => machine.text(start, JSON.stringify(name));
      const property = { schema, path: `${path}/properties/${name}` };
      entry(at, count, key, property, place(index + 1, more(count)));
    }
  }

  const last = properties.length;
  const known = properties.map(({ name }) => name);
  const rest = unnamedProperties(writer, plain, known, others, path);
  if (last === 0) place(0, 0);
  for (let count = 0; count <= cap; count++) {
    if (!isReached(last, count) && (rest.length === 0 || count === 0)) continue;
    const at = place(last, count);
    if (count >= min) machine.jump(at, end);
    if (max !== Infinity && count >= max) continue;
    for (const property of rest) {
      const key: Build = (start) => writer.string(start, property.language, property.path);
      // A name that comes twice is one property, so these do not count towards a minimum.
      const next = min > 0 && count > 0 ? count : more(count);
      entry(at, count, key, property, place(last, next));
    }
  }
  if (min > 0 && rest.length > 0 && (max !== Infinity || min > properties.length))
    writer.report(`${path}: minProperties next to properties of any name`);
  return machine.text(writer.space(end), "}");
}
