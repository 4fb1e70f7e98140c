/** Numbers of what was captured; tokens are those of steps that can be trained on. */
import type { Attribution } from "./attribution.ts";

export function captureMetrics(attribution: Attribution): Record<string, number> {
  const traces = attribution.trajectories.flatMap((trajectory) => trajectory.traces);
  return {
    turns: attribution.calls,
    "tokens/prompt": traces.reduce((sum, trace) => sum + trace.promptIds.length, 0),
    "tokens/response": traces.reduce((sum, trace) => sum + trace.responseIds.length, 0),
    truncated: traces.some((trace) => trace.stopReason === "length") ? 1 : 0,
    "calls/untrainable": attribution.untrainable,
    "calls/unattributed": attribution.unattributed,
    "calls/unused_choices": attribution.unusedChoices,
  };
}
