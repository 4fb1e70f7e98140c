/** What became of a schema, as threads send it. */
import type { CompiledSchema } from "../schema/compile-schema.ts";
import { GrammarError } from "../grammar-error.ts";
import { GrammarLimitError } from "../work-budget.ts";

export type SchemaOutcome =
  | { readonly compiled: CompiledSchema }
  | { readonly problem: string; readonly isLimit: boolean };

type Problem = Extract<SchemaOutcome, { readonly problem: string }>;

/** Null where there is none. @throws what is a fault of the compiler, and not of the schema. */
export function problemOf(work: () => void): Problem | null {
  try {
    work();
    return null;
  } catch (error) {
    if (error instanceof GrammarLimitError) return { problem: error.message, isLimit: true };
    if (error instanceof GrammarError) return { problem: error.message, isLimit: false };
    throw error;
  }
}

export function outcomeOf(compile: () => CompiledSchema): SchemaOutcome {
  let compiled: CompiledSchema | undefined;
  const problem = problemOf(() => {
    compiled = compile();
  });
  return problem ?? { compiled: compiled! };
}

export const bytesOf = (outcome: SchemaOutcome): number =>
  "compiled" in outcome
    ? Object.values(outcome.compiled.machine).reduce((sum, { byteLength }) => sum + byteLength, 0)
    : 0;
