/** Calls that this package recorded, into a store of production: of a gateway's SQLite file, or of a run. */
import { captured } from "../core/completeness.ts";
import type { Trace } from "../core/trace.ts";
import { createSqliteTraceStore } from "../gateway/index.ts";
import type { ImportFileOptions } from "../production/import/import-file.ts";
import { keepSpans } from "../production/receiver/keep-otlp.ts";
import { checkDataFile } from "../datasets/files/json-lines-file.ts";
import { readEpisodes } from "../runs/evaluations/recorded-episodes.ts";
import type { ModelCall, Span } from "../production/store/span.ts";

/** A call that a gateway of ours captured. */
export function callOfTrace(trace: Trace): ModelCall {
  const { messages, tools, response, model, responseId, stopReason, weightVersion, usage } = trace;
  return {
    model,
    messages,
    tools,
    response,
    completeness: captured(stopReason),
    promptTokens: usage?.promptTokens ?? trace.promptIds.length,
    completionTokens: usage?.completionTokens ?? trace.responseIds.length,
    responseId,
    ...(weightVersion === null ? {} : { weightVersion }),
  };
}

/** The same as a span: a session is a trace, and a conversation. */
function spanOfTrace(trace: Trace): Span {
  return {
    traceId: trace.sessionUid,
    id: trace.id,
    parentId: null,
    name: trace.trajectoryUid ?? "agent",
    kind: "model",
    startMs: trace.startedAt,
    endMs: trace.finishedAt,
    conversationId: trace.sessionUid,
    model: callOfTrace(trace),
    source: "agent-trainer",
  };
}

export const ownFormats: readonly string[] = ["gateway", "run"];

const pageSize = 500;

async function* tracesOf(file: string, format: string): AsyncGenerator<readonly Trace[]> {
  if (format === "run") {
    for (const { trajectories } of readEpisodes(file))
      yield trajectories.flatMap(({ steps }) => steps.map(({ trace }) => trace));
    return;
  }
  // A store that is not there would be made.
  checkDataFile(file);
  const store = createSqliteTraceStore(file);
  try {
    for (const { uid: sessionUid } of store.sessions()) {
      for (let after = 0; ;) {
        const page = await store.page({ sessionUid, after, limit: pageSize });
        if (page.traces.length === 0) break;
        yield page.traces;
        after = page.cursor;
      }
    }
  } finally {
    await store.close();
  }
}

export async function importOwn(
  file: string,
  { store, format, counts, signal }: ImportFileOptions,
): Promise<void> {
  for await (const traces of tracesOf(file, format)) {
    signal?.throwIfAborted();
    await keepSpans(store, traces.map(spanOfTrace), counts);
  }
}
