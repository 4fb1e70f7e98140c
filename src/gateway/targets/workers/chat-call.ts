/** One try of one call at a server that renders messages itself. Knows neither retries nor stores. */
import type { SamplingParams } from "../../../core/policy.ts";
import type { TargetCall } from "../target.ts";
import { ResponseCollector } from "./response-collector.ts";
import type { UpstreamRequests } from "./requests/upstream-requests.ts";
import type { Worker, WorkerFacts } from "./pool/worker.ts";

export interface ChatCallOptions {
  readonly upstream: UpstreamRequests;
  readonly call: TargetCall;
  readonly params: SamplingParams;
  /** Bounds a whole response, whose first byte comes last. */
  readonly requestTimeoutMs: number;
  /** The server has begun to respond. */
  readonly onBegin: (response: ResponseCollector) => void;
  /** The client is about to be shown something. */
  readonly onCommit: () => void;
}

interface ShownPart {
  readonly choice: number;
  readonly content: string;
  readonly reasoning: string;
}

/** What the server sent; partial when the call was aborted. @throws UpstreamError */
export async function callChat(
  worker: Worker,
  facts: WorkerFacts,
  { upstream, call, params, requestTimeoutMs, onBegin, onCommit }: ChatCallOptions,
): Promise<ResponseCollector> {
  const { request, abort, onDelta } = call;
  const { kind, model } = facts;
  // llama.cpp's server reports no log-probabilities in a stream with tools, so a whole response is requested.
  const isWhole = kind === "llamacpp" && request.tools.length > 0;
  const stream = onDelta !== undefined && !isWhole;
  const chat = { request, params, kind, model, stream };
  const collector = new ResponseCollector(worker.id, request.n);
  const { signal } = abort;
  try {
    const pieces = upstream.run(
      worker,
      { form: "messages", request: chat },
      { signal, ...(stream ? {} : { deadlines: { firstByteMs: requestTimeoutMs } }) },
    );
    let hasBegun = false;
    for await (const together of pieces) {
      const shown: ShownPart[] = [];
      for (const piece of together) {
        collector.add(piece, ({ choice, content = "", reasoning = "" }) => {
          if (content !== "" || reasoning !== "") shown.push({ choice, content, reasoning });
        });
      }
      if (!hasBegun) onBegin(collector);
      hasBegun = true;
      if (shown.length > 0) onCommit();
      for (const { choice, ...delta } of shown) onDelta?.(choice, delta);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    return collector;
  }
  if (!signal.aborted) collector.requireFinish();
  return collector;
}
