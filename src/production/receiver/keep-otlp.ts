/** Spans of a request, or of a line of a file, into a store; with counts of what they were. */
import { interpret } from "../conventions/interpret.ts";
import type { OtlpSpan, ReadRequest } from "../otlp/otlp-span.ts";
import type { ProductionStore, Rejected } from "../store/production-store.ts";
import type { Span } from "../store/span.ts";

export interface CollectCounts {
  spans: number;
  /** Calls of models among them. */
  modelCalls: number;
  /** Model calls that say nothing: the program does not record text. */
  withoutText: number;
  feedback: number;
  /** Pieces of feedback that were in the store already. */
  known: number;
  rejected: number;
}

export const emptyCounts = (): CollectCounts => ({
  spans: 0,
  modelCalls: 0,
  withoutText: 0,
  feedback: 0,
  known: 0,
  rejected: 0,
});

/** Adds spans and their counts. */
export async function keepSpans(
  store: ProductionStore,
  spans: readonly Span[],
  counts: CollectCounts,
): Promise<void> {
  await store.addSpans(spans);
  const calls = spans.flatMap(({ model }) => model ?? []);
  counts.spans += spans.length;
  counts.modelCalls += calls.length;
  counts.withoutText += calls.filter(({ messages }) => messages.length === 0).length;
}

function rejectionOf(at: string, span: OtlpSpan, error: unknown): Rejected {
  const { message } = error as Error;
  return { at, reason: `${span.name}: ${message}`, text: JSON.stringify(span) };
}

/** What of a request can be kept; the rest does not hold it up. */
export function interpretAll(
  { spans, rejected }: ReadRequest,
  at: string,
): { readonly spans: readonly Span[]; readonly rejected: readonly Rejected[] } {
  const kept: Span[] = [];
  const bad: Rejected[] = rejected.map((reason) => ({ at, reason, text: "" }));
  for (const span of spans) {
    try {
      kept.push(interpret(span));
    } catch (error) {
      bad.push(rejectionOf(at, span, error));
    }
  }
  return { spans: kept, rejected: bad };
}

/** Of one request: it may reject very many for one reason. */
const keptRejections = 100;

/** Resolves once all is on the disk. */
export async function keepOtlp(
  store: ProductionStore,
  request: ReadRequest,
  at: string,
  counts: CollectCounts,
): Promise<{ readonly rejected: number; readonly why: string }> {
  const { spans, rejected } = interpretAll(request, at);
  await Promise.all([
    keepSpans(store, spans, counts),
    store.reject(rejected.slice(0, keptRejections)),
  ]);
  counts.rejected += rejected.length;
  return { rejected: rejected.length, why: rejected[0]?.reason ?? "" };
}
