/** What all parts of the compiler of one schema share. */
import type { WorkBudget } from "../work-budget.ts";
import type { OnUnenforced } from "./keywords.ts";
import type { ValueIds } from "./value-ids.ts";

export interface SchemaContext {
  /** Told what a schema says that is not enforced. */
  readonly report: OnUnenforced;
  /** Every loop counts its steps here. */
  readonly budget: WorkBudget;
  readonly values: ValueIds;
}
