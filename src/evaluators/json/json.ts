/** Structured output: whether it parses, fits a schema, and has the expected fields. */
import type { z } from "zod";
import type { Task } from "../../core/task.ts";
import type { Signal } from "../../core/trajectory.ts";
import { ConfigError } from "../../core/errors.ts";
import {
  type AnswerOptions,
  type SyncScorer,
  readAnswers,
  readText,
  scored,
  tooLong,
} from "../scorer.ts";
import { type ExactJson, isSameJson, plainOf } from "../../util/exact-json.ts";
import { exactReference, readResponse, valueAt } from "./read-json.ts";
import { type SchemaCheck, jsonSchemaCheck, zodCheck } from "./schema-check.ts";

/**
 * How well a field fits, from 0 to 1 or as true or false.
 *
 * @example
 * const near: FieldComparison = (found, expected) =>
 *   Math.abs(Number(found) - Number(expected)) < 0.01;
 */
export type FieldComparison = (found: unknown, expected: unknown) => boolean | number;

/**
 * Options of {@link json}.
 *
 * @example
 * const options: JsonOptions<{ invoice: { total: number } }> = {
 *   schema: z.object({ total: z.number() }),
 *   answer: (task) => task.metadata.invoice,
 *   fields: ["total"],
 *   partial: true,
 * };
 */
export interface JsonOptions<Metadata> extends AnswerOptions<Metadata> {
  /** A zod schema, or a JSON Schema; a value that does not fit gets 0. @default no schema */
  readonly schema?: z.ZodType | Readonly<Record<string, unknown>>;
  /**
   * Paths such as `user.tags.0` that must equal those of the reference answer; an object gives a
   * comparison for each.
   * @default the whole value is compared where there is no schema or an `answer` is given
   */
  readonly fields?: readonly string[] | Readonly<Record<string, FieldComparison>>;
  /** Whether the reward is the fraction of fields that fit. @default false: 1 for all, else 0 */
  readonly partial?: boolean;
}

const isZod = (schema: object): schema is z.ZodType => "_zod" in schema;

/**
 * Scores JSON, alone or in a fenced block, with all digits of its numbers: 1 where it fits the schema and equals the reference answer in
 * the fields that are compared, else 0, or the fraction of those fields. The signals are `valid_json`,
 * `schema` and `fields`.
 *
 * @example
 * const evaluator = json({ fields: ["name", "address.city"], partial: true });
 */
export function json<Metadata = unknown>(
  options: JsonOptions<Metadata> = {},
): SyncScorer<Metadata> {
  const { schema, partial = false } = options;
  const check: SchemaCheck | null =
    schema === undefined ? null : isZod(schema) ? zodCheck(schema) : jsonSchemaCheck(schema);
  const comparisons = comparisonsOf(options);
  return (task, episode) => {
    const expected = comparisons === null ? null : reference(task, options);
    const text = readText(episode, options);
    if (text === null) return tooLong();
    const reading = readResponse(text);
    if ("reason" in reading) return scored(0, { reason: reading.reason }, signalsOf(0, 0, 0));
    const problem = check?.(plainOf(reading.value)) ?? null;
    if (problem !== null) return scored(0, { reason: problem }, signalsOf(1, 0, 0));
    if (comparisons === null) return scored(1, {}, signalsOf(1, 1, 1));
    const results = comparisons.map(([path, compare]): [string, number] => {
      const at = (value: ExactJson): Found => (path === "" ? value : valueAt(value, path));
      return [path, clamp(Number(compare(at(reading.value), at(expected))))];
    });
    const fraction = results.reduce((sum, [, fit]) => sum + fit, 0) / results.length;
    const wrong = results.flatMap(([path, fit]) => (fit < 1 ? [path] : []));
    const reward = partial || fraction === 1 ? fraction : 0;
    const metadata = wrong.length === 0 ? {} : { wrong: wrong.slice(0, 20) };
    return scored(reward, metadata, signalsOf(1, 1, fraction));
  };
}

const clamp = (fit: number): number => (fit >= 0 ? Math.min(fit, 1) : 0);

type Found = ExactJson | undefined;
type Comparison = (found: Found, expected: Found) => boolean | number;

const isSame: Comparison = (found, expected) =>
  found === undefined || expected === undefined ? found === expected : isSameJson(found, expected);

const plain = (value: Found): unknown => (value === undefined ? undefined : plainOf(value));

function comparisonsOf<Metadata>({
  schema,
  answer,
  fields,
}: JsonOptions<Metadata>): readonly (readonly [string, Comparison])[] | null {
  if (fields === undefined) {
    return schema === undefined || answer !== undefined ? [["", isSame]] : null;
  }
  const entries = Array.isArray(fields)
    ? (fields as readonly string[]).map((path): [string, Comparison] => [path, isSame])
    : Object.entries(fields as Readonly<Record<string, FieldComparison>>).map(
        ([path, compare]): [string, Comparison] => [
          path,
          (found, expected) => compare(plain(found), plain(expected)),
        ],
      );
  if (entries.length > 0) return entries;
  throw new ConfigError({
    message: "json() was given an empty list of fields.",
    hint: "Name at least one field, or leave `fields` out to compare the whole value.",
  });
}

/** The reference answer. A list is one value here, not several answers. */
function reference<Metadata>(task: Task<Metadata>, options: JsonOptions<Metadata>): ExactJson {
  const [value] = readAnswers(task, (one) => [
    options.answer === undefined
      ? (one.metadata as { readonly answer?: unknown }).answer
      : options.answer(one),
  ]);
  return exactReference(value, task.id);
}

const signalsOf = (valid: number, schema: number, fields: number): readonly Signal[] => [
  { name: "valid_json", value: valid },
  { name: "schema", value: schema },
  { name: "fields", value: fields },
];
