/** A call that our gateway captured, as a span: a session is a trace, and a conversation. */
import type { Trace } from "../../core/trace.ts";
import type { Span } from "../store/span.ts";

export function spanOfTrace(trace: Trace): Span {
  const { messages, tools, response, model, responseId, stopReason, weightVersion } = trace;
  return {
    traceId: trace.sessionUid,
    id: trace.id,
    parentId: null,
    name: trace.trajectoryUid ?? "agent",
    kind: "model",
    startMs: trace.startedAt,
    endMs: trace.finishedAt,
    conversationId: trace.sessionUid,
    model: {
      model,
      messages,
      tools,
      response,
      stopReason: stopReason === "length" ? "length" : "stop",
      promptTokens: trace.usage?.promptTokens ?? trace.promptIds.length,
      completionTokens: trace.usage?.completionTokens ?? trace.responseIds.length,
      responseId,
      ...(weightVersion === null ? {} : { weightVersion }),
    },
    source: "agent-trainer",
  };
}
