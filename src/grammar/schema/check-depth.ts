import { GrammarError } from "../grammar-error.ts";
import type { WorkBudget } from "../work-budget.ts";
import type { Schema } from "./keywords.ts";

/** Values within values. */
const maxDepth = 200;

/** What calls itself for the parts of a schema comes to an end. @throws GrammarError */
export function checkDepth(schema: Schema, budget: WorkBudget): void {
  const queue: { readonly value: Schema; readonly depth: number }[] = [{ value: schema, depth: 0 }];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    const { value, depth } = next;
    budget.spend(1);
    if (typeof value !== "object" || value === null) continue;
    if (depth === maxDepth)
      throw new GrammarError("#", `is nested more than ${maxDepth} levels deep`);
    for (const part of Object.values(value)) queue.push({ value: part, depth: depth + 1 });
  }
}
