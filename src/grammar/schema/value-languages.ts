/** Which texts a schema's strings and numbers may be. */
import { GrammarError } from "../grammar-error.ts";
import { GrammarLimitError, type WorkBudget } from "../work-budget.ts";
import { allOf, ofLength, type Language } from "../strings/language.ts";
import { patternLanguage } from "../strings/regex.ts";
import { formatPatterns, textFormats } from "./formats.ts";
import type { PlainSchema } from "./normalize.ts";
import { numberLanguage } from "./numbers.ts";
import type { SchemaContext } from "./schema-context.ts";

/** Elements or properties that are counted one by one. */
const maxCount = 2000;

/** A limit such as `maxItems`; one that cannot be counted to is none. @throws GrammarError for a minimum above 2,000 */
export function limitOf(plain: PlainSchema, name: string, otherwise: number, path: string): number {
  const value = plain.numbers[name] ?? otherwise;
  if (value !== Infinity && value > maxCount && name.startsWith("min"))
    throw new GrammarError(path, `${name} is above ${maxCount}`);
  return value > maxCount ? Infinity : Math.max(0, Math.ceil(value));
}

/** Strings of a schema: their length, patterns and formats. */
export function stringsOf(
  plain: PlainSchema,
  path: string,
  { report, budget }: SchemaContext,
): Language {
  const min = limitOf(plain, "minLength", 0, path);
  const given = plain.numbers["maxLength"] ?? Infinity;
  // Beyond any completion.
  const max = given > maxCount * 5 ? Infinity : given;
  const formats = plain.formats.flatMap((format) => {
    if (Object.hasOwn(formatPatterns, format)) return [formatPatterns[format]!];
    if (textFormats.has(format)) report(`${path}: format "${format}"`);
    return [];
  });
  const languages: Language[] = min === 0 && max === Infinity ? [] : [ofLength(min, max)];
  for (const pattern of [...plain.patterns, ...formats]) {
    try {
      languages.push(patternLanguage(pattern, budget));
    } catch (error) {
      if (error instanceof GrammarLimitError) throw error;
      report(`${path}: pattern ${JSON.stringify(pattern)} (${(error as Error).message})`);
    }
  }
  return allOf(languages, budget);
}

/** Numbers of a schema: their bounds and `multipleOf`. */
export function numbersOf(
  { numbers }: PlainSchema,
  isInteger: boolean,
  path: string,
  { report, budget }: SchemaContext,
): Language {
  const lowest = numbers["minimum"] ?? -Infinity;
  const above = numbers["exclusiveMinimum"] ?? -Infinity;
  const highest = numbers["maximum"] ?? Infinity;
  const below = numbers["exclusiveMaximum"] ?? Infinity;
  const given = numbers["multipleOf"] ?? 1;
  const isCounted = Number.isInteger(given) && given >= 1 && given <= 1000;
  if (!isCounted) report(`${path}: multipleOf ${given} (whole numbers up to 1000 are enforced)`);
  const bounds = {
    isInteger: isInteger || (isCounted && numbers["multipleOf"] !== undefined),
    min: Math.max(lowest, above),
    max: Math.min(highest, below),
    excludesMin: above >= lowest && above !== -Infinity,
    excludesMax: below <= highest && below !== Infinity,
    multipleOf: isCounted ? given : 1,
  };
  return numberLanguage(bounds, budget);
}

/** Names of properties that a pattern means. @throws GrammarError for one that is not supported */
export function namesOf(pattern: string, path: string, budget: WorkBudget): Language {
  try {
    return patternLanguage(pattern, budget);
  } catch (error) {
    if (error instanceof GrammarLimitError) throw error;
    throw new GrammarError(path, `pattern "${pattern}": ${(error as Error).message}`);
  }
}
