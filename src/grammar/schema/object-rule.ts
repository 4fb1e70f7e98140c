/**
 * Objects. Properties come in the order of the schema; where `properties` are given and
 * `additionalProperties` is not, there are no others.
 */
import { includes } from "../strings/language.ts";
import type { Schema } from "./keywords.ts";
import type { PlainSchema } from "./normalize.ts";
import type { SchemaContext } from "./schema-context.ts";
import { unnamedProperties } from "./unnamed-properties.ts";
import { limitOf, namesOf } from "./value-languages.ts";
import type { Build, SchemaWriter } from "./writer.ts";

/** The schemas of required properties that `properties` does not have. */
function undeclared(
  plain: PlainSchema,
  others: Schema,
  path: string,
  { budget }: SchemaContext,
): (name: string) => Schema {
  const patterns = Array.from(plain.patternProperties, ([pattern, schema]) => ({
    language: namesOf(pattern, path, budget),
    schema,
  }));
  return (name) => {
    budget.spend(1 + patterns.length * name.length);
    return patterns.find(({ language }) => includes(language, name))?.schema ?? others;
  };
}

/** What is before a place among the properties of an object. */
interface Place {
  /** Properties, up to the maximum; without one, up to 1. */
  readonly entries: number;
  /** Of those, distinct ones for sure, up to the minimum. */
  readonly counted: number;
  /** A property that the schema does not name is among them, where that matters. */
  readonly hasRest: boolean;
}

export function writeObject(
  writer: SchemaWriter,
  from: number,
  plain: PlainSchema,
  path: string,
): number {
  const { machine } = writer;
  const { additional, patternProperties } = plain;
  const required = new Set(plain.required);
  const isClosed = additional === undefined && plain.properties.size + patternProperties.size > 0;
  const others: Schema = isClosed ? false : (additional ?? true);
  const schemaOf = undeclared(plain, isClosed ? true : others, path, writer.context);
  const unlisted = plain.required.filter((name) => !plain.properties.has(name));
  const properties = [
    ...Array.from(plain.properties, ([name, schema]) => ({ name, schema })),
    ...unlisted.map((name) => ({ name, schema: schemaOf(name) })),
  ];
  const known = properties.map(({ name }) => name);
  const rest = unnamedProperties(writer, plain, known, others, path).map((property) => ({
    ...property,
    name: machine.rule((start) => writer.string(start, property.language)),
  }));
  const least = limitOf(plain, "minProperties", 0, path);
  const min = least <= required.size ? 0 : least;
  const max = limitOf(plain, "maxProperties", Infinity, path);
  // A name of the rest may come twice, and is one property then: only the first of them surely counts
  // towards a minimum, and all of them towards a maximum.
  const isSure = min <= properties.length + 1 || rest.length === 0;
  if (!isSure) writer.context.report(`${path}: minProperties next to properties of any name`);
  const after = (at: Place, isNamed: boolean): Place => {
    const counts = isNamed || !at.hasRest || !isSure;
    return {
      entries: Math.min(at.entries + 1, max === Infinity ? 1 : max),
      counted: Math.min(at.counted + (counts ? 1 : 0), min),
      hasRest: !isNamed && min > 0 && isSure,
    };
  };
  const isFull = ({ entries }: Place): boolean => entries >= max;
  const end = machine.state();
  const open = writer.space(machine.text(from, "{"));
  /** The places before a property, with their states. */
  let places = new Map<string, { readonly place: Place; readonly state: number }>();
  const stateOf = (of: typeof places, place: Place): number => {
    const key = `${place.entries}/${place.counted}/${place.hasRest}`;
    const found = of.get(key)?.state ?? machine.state();
    of.set(key, { place, state: found });
    return found;
  };
  const entry = (
    at: { readonly place: Place; readonly state: number },
    key: Build,
    property: { readonly schema: Schema; readonly path: string },
    to: number,
  ): void => {
    const { place, state } = at;
    const begun = place.entries === 0 ? state : writer.space(machine.text(state, ","));
    const value = writer.space(machine.text(key(begun), ":"));
    machine.call(value, writer.rule(property.schema, property.path), to);
  };

  const none: Place = { entries: 0, counted: 0, hasRest: false };
  places.set("", { place: none, state: open });
  for (const { name, schema } of properties) {
    const next: typeof places = new Map();
    for (const at of places.values()) {
      if (!required.has(name)) machine.jump(at.state, stateOf(next, at.place));
      if (isFull(at.place)) continue;
      const key: Build = (start) => machine.text(start, JSON.stringify(name));
      const property = { schema, path: `${path}/properties/${name}` };
      entry(at, key, property, stateOf(next, after(at.place, true)));
    }
    places = next;
  }
  // A Map yields what is added on the way, too.
  for (const at of places.values()) {
    if (at.place.counted >= min) machine.jump(at.state, end);
    if (isFull(at.place)) continue;
    for (const property of rest) {
      const key: Build = (start) => machine.call(start, property.name);
      entry(at, key, property, stateOf(places, after(at.place, false)));
    }
  }
  return machine.text(writer.space(end), "}");
}
