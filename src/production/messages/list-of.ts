/** The objects of a list that comes from outside; empty for what is no list. */
import { isJsonObject, type JsonFields } from "../../util/json-object.ts";

export const listOf = (value: unknown): readonly JsonFields[] =>
  Array.isArray(value) ? value.filter(isJsonObject) : [];
