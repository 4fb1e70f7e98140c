/** The schemas of a request, compiled before it reaches the engine's thread. */
import type { LogitRules } from "../../core/grammar.ts";
import { readySchemas, type ReadySchemas } from "../../grammar/thread/compiled-schemas.ts";
import { notEnforced } from "./not-enforced.ts";

export type { ReadySchemas };

/** @throws AgentTrainerError REQUEST_INVALID */
export async function schemasOfRules(rules: LogitRules | undefined): Promise<ReadySchemas> {
  if (rules?.grammar === undefined) return [];
  try {
    return await readySchemas(rules.grammar, "");
  } catch (cause) {
    throw notEnforced(cause);
  }
}
