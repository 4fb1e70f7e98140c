/** The options in `dataset` in the form that the functions of datasets take. */
import type { FieldMap } from "../datasets/tasks/map-fields.ts";
import type { Shard } from "../datasets/tasks/select.ts";

/** `["instruction=question"]` → `{ instruction: "question" }`; null without pairs. */
export function fieldsOf(pairs: readonly string[]): FieldMap | null {
  if (pairs.length === 0) return null;
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf("=");
      return [pair.slice(0, at), pair.slice(at + 1)] as const;
    }),
  );
}

/** `0/4` → `{ index: 0, count: 4 }` */
export function shardOf(text: string | null): Shard | null {
  if (text === null) return null;
  const [index, count] = text.split("/").map(Number) as [number, number];
  return { index, count };
}
