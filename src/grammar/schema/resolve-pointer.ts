/** `$ref` inside of a schema. */
import type { JsonValue } from "../../core/message.ts";
import { GrammarError } from "../grammar-error.ts";
import { isObject, type Schema } from "./keywords.ts";

/** The schema at `#/...`. @throws GrammarError */
export function resolvePointer(root: Schema, pointer: string, path: string): Schema {
  if (!pointer.startsWith("#"))
    throw new GrammarError(path, `$ref "${pointer}" does not point into the schema itself`);
  let at: JsonValue | undefined = root;
  for (const part of decoded(pointer.slice(1), path).split("/").slice(1)) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    at = Array.isArray(at)
      ? (at[Number(key)] as JsonValue)
      : isObject(at) && Object.hasOwn(at, key)
        ? at[key]
        : undefined;
  }
  if (at !== undefined && (pointer === "#" || pointer.startsWith("#/"))) return at;
  throw new GrammarError(path, `$ref "${pointer}" points at nothing`);
}

function decoded(pointer: string, path: string): string {
  try {
    return decodeURIComponent(pointer);
  } catch {
    throw new GrammarError(path, `$ref "#${pointer}" is not a URI`);
  }
}
