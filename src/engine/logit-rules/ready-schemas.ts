/** The schemas of a request, compiled before it reaches the engine's thread. */
import type { LogitRules } from "../../core/grammar.ts";
import type { TrainingRow } from "../../core/loss/training-row.ts";
import { readySchemas, type ReadySchemas } from "../../grammar/thread/compiled-schemas.ts";
import { notEnforced } from "./not-enforced.ts";

export type { ReadySchemas };

/** @throws AgentTrainerError REQUEST_INVALID; the signal's reason */
export async function schemasOfRules(
  rules: LogitRules | undefined,
  signal?: AbortSignal,
): Promise<ReadySchemas> {
  if (rules?.grammar === undefined) return [];
  try {
    return await readySchemas(rules.grammar, signal);
  } catch (cause) {
    signal?.throwIfAborted();
    throw notEnforced(cause);
  }
}

/** Those of all rules of rows, once each. @throws AgentTrainerError REQUEST_INVALID */
export async function schemasOfRows(rows: readonly TrainingRow[]): Promise<ReadySchemas> {
  const found = new Map<string, ReadySchemas[number][1]>();
  const rules = new Set(rows.flatMap((row) => row.rules?.map((one) => one.rules) ?? []));
  for (const one of rules)
    for (const [key, schema] of await schemasOfRules(one)) found.set(key, schema);
  return [...found];
}
