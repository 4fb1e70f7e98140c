/** The tasks of an evaluation by the values of a field of theirs. */
import { ConfigError } from "../../core/errors.ts";
import { type ComparableEvaluation, itemsOf } from "./compare.ts";
import { readEpisodes } from "./recorded-episodes.ts";

/** Ids of tasks. */
export interface Slice {
  readonly field: string;
  readonly value: string;
  readonly ids: ReadonlySet<string>;
}

const isPlain = (value: unknown): boolean => ["string", "number", "boolean"].includes(typeof value);

/** Metadata of the tasks by their ids; results alone have only `data_source`. */
function metadataOf(
  evaluation: ComparableEvaluation,
  fields: readonly string[],
): ReadonlyMap<string, Readonly<Record<string, unknown>>> {
  const others = fields.filter((field) => field !== "data_source");
  if (others.length === 0) {
    const { items } = itemsOf(evaluation);
    return new Map(items.map(({ id, dataSource }) => [id, { data_source: dataSource }]));
  }
  if (typeof evaluation === "string") {
    const found = new Map<string, Readonly<Record<string, unknown>>>();
    for (const { task } of readEpisodes(evaluation)) found.set(task.id, task.metadata ?? {});
    return found;
  }
  throw new ConfigError({
    message: `Slices by ${others.join(" and ")} need the recorded episodes of the evaluation.`,
    hint: "Record both evaluations (in code: folder), and compare their folders.",
    fields: { option: "slices", fields: others },
  });
}

/**
 * Every value of every field, in their order; a task without the field is in no slice of it.
 * @throws ConfigError for a field that no task has, `data_source` aside.
 */
export function slicesOf(
  evaluation: ComparableEvaluation,
  fields: readonly string[],
): readonly Slice[] {
  const metadata = metadataOf(evaluation, fields);
  return fields.flatMap((field) => {
    const byValue = new Map<string, Set<string>>();
    for (const [id, row] of metadata) {
      if (!isPlain(row[field])) continue;
      const value = String(row[field]);
      byValue.set(value, (byValue.get(value) ?? new Set()).add(id));
    }
    if (byValue.size === 0 && field !== "data_source" && metadata.size > 0) {
      throw new ConfigError({
        message: `No task has a text, a number or a truth value in the field ${JSON.stringify(field)}, so it makes no slices.`,
        hint: "Name a field of task.metadata.",
        fields: { option: "slices", field },
      });
    }
    return [...byValue].map(([value, ids]) => ({ field, value, ids }));
  });
}
