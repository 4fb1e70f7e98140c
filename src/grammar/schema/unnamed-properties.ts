/** Properties that a schema does not name: those of `patternProperties`, and all others. */
import { GrammarError } from "../grammar-error.ts";
import { allOf, not, oneOf, type Language } from "../strings/language.ts";
import type { Schema } from "./keywords.ts";
import type { PlainSchema } from "./normalize.ts";
import { namesOf, stringsOf } from "./value-languages.ts";
import type { SchemaWriter } from "./writer.ts";

/** Properties of any name in `language` have this schema. */
export interface UnnamedProperties {
  readonly language: Language;
  readonly schema: Schema;
  readonly path: string;
}

/** What `propertyNames` says. */
function allowedNames(writer: SchemaWriter, plain: PlainSchema, path: string): readonly Language[] {
  const place = `${path}/propertyNames`;
  const { budget } = writer.context;
  const languages = plain.propertyNames
    .flatMap((schema) => writer.alternatives(schema, place))
    .map((schema) => {
      const strings = stringsOf(schema, place, writer.context);
      const values = schema.values?.filter((value) => typeof value === "string");
      return values === undefined ? strings : allOf([oneOf(values, budget), strings], budget);
    });
  if (plain.propertyNames.length > 1 || languages.length > 1)
    throw new GrammarError(path, "propertyNames with several alternatives cannot be enforced");
  return languages;
}

/** @param others the schema of properties that no pattern matches */
export function unnamedProperties(
  writer: SchemaWriter,
  plain: PlainSchema,
  names: readonly string[],
  others: Schema,
  path: string,
): readonly UnnamedProperties[] {
  const { budget } = writer.context;
  const unnamed = [
    ...allowedNames(writer, plain, path),
    ...(names.length === 0 ? [] : [not(oneOf(names, budget))]),
  ];
  const patterns = [...plain.patternProperties].map(([pattern, schema]) => ({
    matching: namesOf(pattern, path, budget),
    schema,
    path: `${path}/patternProperties/${pattern}`,
  }));
  const found: UnnamedProperties[] = [];
  for (const pattern of patterns) {
    if (pattern.schema === false) continue;
    // A name of two patterns would need both schemas.
    budget.spend(patterns.length);
    const rest = patterns.filter((other) => other !== pattern).map((other) => not(other.matching));
    const language = allOf([pattern.matching, ...rest, ...unnamed], budget);
    found.push({ language, schema: pattern.schema, path: pattern.path });
  }
  if (others === false) return found;
  const language = allOf([...patterns.map(({ matching }) => not(matching)), ...unnamed], budget);
  return [...found, { language, schema: others, path: `${path}/additionalProperties` }];
}
