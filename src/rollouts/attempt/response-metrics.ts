/** Metrics of what the calls of a rollout contain: text, tool results, versions of the weights. */
import { isToolError, messageText } from "../../core/message-text.ts";
import { isGarbled, isRepetitive } from "../../core/response-quality.ts";
import type { Trace } from "../../core/trace.ts";

/** Results of tools that are new in the call: those at the end of its messages. */
function toolResults({ messages }: Trace): string[] {
  const results: string[] = [];
  for (let i = messages.length - 1; i >= 0; i--) {
    const message = messages[i];
    if (message?.role !== "tool") break;
    results.push(messageText(message.content));
  }
  return results;
}

const flag = (value: boolean): number => (value ? 1 : 0);

/** @returns metrics of an episode; `weight_version` only where the gateway knows it. */
export function responseMetrics(traces: readonly Trace[]): Record<string, number> {
  const texts = traces.map(
    ({ response }) => `${response.reasoning ?? ""}${messageText(response.content)}`,
  );
  const isEmpty = ({ response }: Trace, i: number): boolean =>
    (texts[i] ?? "").trim() === "" && (response.toolCalls ?? []).length === 0;
  const results = traces.flatMap(toolResults);
  const versions = traces.flatMap(({ weightVersion }) =>
    weightVersion === null ? [] : [weightVersion],
  );
  return {
    "text/empty": flag(traces.some(isEmpty)),
    "text/garbled": flag(texts.some(isGarbled)),
    "text/repeated": flag(texts.some(isRepetitive)),
    "tools/results": results.length,
    "tools/errors": results.filter(isToolError).length,
    "calls/malformed": traces.filter(({ malformed }) => malformed !== undefined).length,
    ...(versions.length === 0
      ? {}
      : { weight_version: versions.reduce((sum, version) => sum + version, 0) / versions.length }),
  };
}
