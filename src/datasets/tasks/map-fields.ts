/** Columns of a row under other names: `{ instruction: "question", answer: "reward_model.ground_truth" }`. */
import { ConfigError } from "../../core/errors.ts";
import { nearestName } from "../../util/nearest-name.ts";
import { isJsonObject } from "../../util/json-object.ts";

/** Names that a task needs, to the names that the rows have; dots lead into maps and lists. */
export type FieldMap = Readonly<Record<string, string>>;

/** A row in which a function has replaced what a task is made of, or null to leave the row out. */
export type RowFunction = (row: never, index: number) => object | null;

/** The value at `path`: a key of that very name, else the way along its dots; undefined where it ends. */
function valueAt(row: Record<string, unknown>, path: string): unknown {
  if (Object.hasOwn(row, path)) return row[path];
  let value: unknown = row;
  for (const part of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, part))
      return undefined;
    value = (value as Record<string, unknown>)[part];
  }
  return value;
}

/**
 * The row with each field added under its new name.
 * @throws ConfigError that names the row and the field that it lacks.
 */
export function mapFields(row: unknown, fields: FieldMap, at: string): unknown {
  if (!isJsonObject(row)) return row;
  const mapped = Object.entries(fields).map(([name, path]) => {
    const value = valueAt(row, path);
    if (value !== undefined) return [name, value] as const;
    const names = Object.keys(row);
    const nearest = nearestName(path, names);
    throw new ConfigError({
      message: `${at}: there is no field "${path}", which "${name}" is to be read from; the row has ${names.join(", ") || "no fields"}.`,
      hint:
        nearest === undefined
          ? "Name a field of the row; dots lead into maps and lists, as in prompt.0.content."
          : `Did you mean ${nearest}?`,
      fields: { at, field: name, path },
    });
  });
  return { ...row, ...Object.fromEntries(mapped) };
}
