import type { WorkBudget } from "../work-budget.ts";
import type { PatternTest } from "./pattern-test.ts";

export interface SchemaCheckOptions {
  /** Steps of one check. */
  readonly steps: number;
  /** Compiles a pattern; throws where it is not supported. */
  readonly pattern: (source: string, budget: WorkBudget) => PatternTest;
  /** Formats that texts cannot be checked for are left out, and not refused. @default false */
  readonly anyFormat?: boolean;
}
