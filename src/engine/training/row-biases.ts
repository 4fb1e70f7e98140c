/** What rules of a row add to the logits of its tokens, found by replaying each completion through the rules that sampled it. */
import type { TrainingRow } from "../../core/loss/training-row.ts";
import type { LogitRuleCompiler } from "../logit-rules/compiler.ts";
import type { LogitBias } from "../logit-rules/rule-state.ts";

/** By position in the row; nothing where the logits stay as they are. */
export function biasesOf(
  row: TrainingRow,
  compiler: LogitRuleCompiler,
): ReadonlyMap<number, LogitBias> {
  const found = new Map<number, LogitBias>();
  for (const { start, end, rules, maxTokens, stopTokenIds } of row.rules ?? []) {
    const state = compiler.compile(rules).start({ maxTokens, stopTokenIds });
    for (let at = start; at < end; at++) {
      const bias = state.bias();
      if (bias !== null) found.set(at, bias);
      state.accept(row.tokens[at]!);
    }
  }
  return found;
}
