/**
 * JSON Schema by zod, with the patterns of a schema held by an engine of linear time: zod would run them
 * with the engine of JavaScript, on text that a model wrote.
 */
import { z } from "zod";
import { ConfigError } from "../../core/errors.ts";
import { type LinearPattern, linearPattern } from "../linear-pattern.ts";

/** Whether a value fits; null, or the first problem. */
export type SchemaCheck = (value: unknown) => string | null;

type Schema = Readonly<Record<string, unknown>>;

interface PlacedPattern {
  /** Keys on the way to the text; `null` stands for every item of a list. */
  readonly path: readonly (string | null)[];
  readonly pattern: LinearPattern;
  readonly source: string;
}

const maxSchemaDepth = 64;

/** The check of a zod schema. */
export function zodCheck(schema: z.ZodType): SchemaCheck {
  return (value) => {
    const result = schema.safeParse(value);
    const issue = result.error?.issues[0];
    if (result.success || issue === undefined) return null;
    return `${issue.path.length === 0 ? "the value" : issue.path.join(".")}: ${issue.message}`;
  };
}

/**
 * The check of a JSON Schema.
 * @throws ConfigError for keywords that zod does not have, and for patterns in places where they would
 * not always apply.
 */
export function jsonSchemaCheck(schema: Schema): SchemaCheck {
  const patterns: PlacedPattern[] = [];
  const rest = withoutPatterns(schema, [], patterns, 0) as Schema;
  let check: SchemaCheck;
  try {
    check = zodCheck(z.fromJSONSchema(rest));
  } catch (error) {
    throw unsupported((error as Error).message, error);
  }
  return (value) => {
    const problem = check(value);
    if (problem !== null) return problem;
    const failed = patterns.find(({ path, pattern }) => !fits(value, path, pattern));
    return failed === undefined ? null : `a text does not match the pattern ${failed.source}`;
  };
}

/** Copies a schema without `pattern`, and collects the patterns with their places. */
function withoutPatterns(
  schema: unknown,
  path: readonly (string | null)[],
  patterns: PlacedPattern[],
  depth: number,
): unknown {
  if (depth > maxSchemaDepth) throw unsupported("it is nested more than 64 levels deep");
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return schema;
  const copy: Record<string, unknown> = {};
  const below = (part: unknown, key: string | null): unknown =>
    withoutPatterns(part, [...path, key], patterns, depth + 1);
  for (const [key, part] of Object.entries(schema)) {
    if (key === "pattern" && typeof part === "string") {
      patterns.push({ path, pattern: linearPattern(part), source: part });
    } else if (key === "properties" && typeof part === "object" && part !== null) {
      copy[key] = Object.fromEntries(
        Object.entries(part).map(([name, one]) => [name, below(one, name)]),
      );
    } else if (key === "items" && !Array.isArray(part)) {
      copy[key] = below(part, null);
    } else if (key === "allOf" && Array.isArray(part)) {
      copy[key] = part.map((one) => withoutPatterns(one, path, patterns, depth + 1));
    } else if (key === "patternProperties") {
      throw unsupported("patternProperties");
    } else {
      if (key !== "enum" && key !== "const" && key !== "default" && key !== "examples") {
        refusePatterns(part, depth);
      }
      copy[key] = part;
    }
  }
  return copy;
}

function refusePatterns(part: unknown, depth: number): void {
  if (depth > maxSchemaDepth) throw unsupported("it is nested more than 64 levels deep");
  if (typeof part !== "object" || part === null) return;
  for (const [key, value] of Object.entries(part)) {
    if ((key === "pattern" && typeof value === "string") || key === "patternProperties") {
      throw unsupported(`${key} outside of properties, items and allOf`);
    }
    refusePatterns(value, depth + 1);
  }
}

function fits(value: unknown, path: readonly (string | null)[], pattern: LinearPattern): boolean {
  const [key, ...rest] = path;
  if (key === undefined) return typeof value !== "string" || pattern.find(value) !== null;
  if (typeof value !== "object" || value === null) return true;
  if (key === null) {
    return !Array.isArray(value) || value.every((item: unknown) => fits(item, rest, pattern));
  }
  return !Object.hasOwn(value, key) || fits((value as Schema)[key], rest, pattern);
}

const unsupported = (what: string, cause?: unknown): ConfigError =>
  new ConfigError({
    message: `The JSON Schema cannot be checked: ${what}.`,
    hint: "Leave the keyword out, or pass a zod schema.",
    cause,
    fields: { reason: what },
  });
