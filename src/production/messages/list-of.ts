/** The objects of a list that comes from outside; empty for what is no list. */
import { isJsonObject, type JsonFields } from "../../gateway/http/json-fields.ts";

export const listOf = (value: unknown): readonly JsonFields[] =>
  Array.isArray(value) ? value.filter(isJsonObject) : [];
