import type { JsonValue } from "../../core/message.ts";
import { isObject } from "../schema/keywords.ts";
import { GrammarLimitError, type WorkBudget } from "../work-budget.ts";

const maxDepth = 400;

/** A text that is the same for equal values; the order of fields does not matter. */
export function canonicalText(value: JsonValue, budget: WorkBudget, depth = 0): string {
  budget.spend(1);
  if (depth > maxDepth)
    throw new GrammarLimitError(`a value is nested more than ${maxDepth} levels deep`);
  if (Array.isArray(value)) {
    const items = value as readonly JsonValue[];
    return `[${items.map((item) => canonicalText(item, budget, depth + 1)).join()}]`;
  }
  if (isObject(value)) {
    const fields = Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, field]) => `${JSON.stringify(key)}:${canonicalText(field, budget, depth + 1)}`);
    return `{${fields.join()}}`;
  }
  if (typeof value === "string") budget.spend(value.length);
  // Beyond what a number can be, which JSON has no text for.
  return typeof value === "number" ? String(value === 0 ? 0 : value) : JSON.stringify(value);
}
