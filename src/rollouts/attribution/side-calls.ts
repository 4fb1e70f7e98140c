/** Side calls by the rules of the agent; without rules, every call is a part of its task. */
import { messageText } from "../../core/message-text.ts";
import type { SideCallRule } from "../../core/side-call.ts";
import type { Trace } from "../../core/trace.ts";

/**
 * The same calls, those that a rule recognizes with its name in `sideCall`; the first rule that matches names a
 * call. A guess never takes the call whose text became an output, and none where guesses would take all calls.
 * @param outputs what the rollout returned as text
 */
export function markSideCalls(
  traces: readonly Trace[],
  rules: readonly SideCallRule[],
  outputs: readonly string[] = [],
): readonly Trace[] {
  const own = traces.filter(({ trajectoryUid }) => trajectoryUid === null);
  const given = new Set(outputs.map((output) => output.trim()).filter((output) => output !== ""));
  const found = new Map<Trace, SideCallRule>();
  for (const call of own) {
    const rule = rules.find(({ matches }) => matches(call, own));
    if (rule === undefined) continue;
    if (rule.isGuess === true && given.has(messageText(call.response.content).trim())) continue;
    found.set(call, rule);
  }
  const isAll = own.every((call) => found.has(call));
  return traces.map((trace) => {
    const rule = found.get(trace);
    return rule === undefined || (isAll && rule.isGuess === true)
      ? trace
      : { ...trace, sideCall: rule.name };
  });
}
