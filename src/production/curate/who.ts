/** Who asked in each span, and in which conversation: resolved once, over all spans that belong together. */
import { defined } from "../../util/defined.ts";
import { groupBy } from "../../util/group-by.ts";
import type { Span } from "../store/span.ts";

/** Whom a span is about. */
export type Who = Pick<Span, "user" | "conversationId">;

type Name = keyof Who;

/** The one that all who name any name. */
function only(spans: readonly Span[], name: Name): string | undefined {
  const found = new Set(spans.flatMap((span) => span[name] ?? []));
  return found.size === 1 ? [...found][0] : undefined;
}

/**
 * What a span does not say itself: as the nearest span above it, else as all others of its trace, else as all others
 * of the group. Where these name several, it is not known.
 */
export function whoOf(spans: readonly Span[]): (span: Span) => Who {
  const byId = new Map(spans.map((span) => [`${span.traceId}/${span.id}`, span]));
  const byTrace = groupBy(spans, ({ traceId }) => traceId);
  const ofTrace = new Map<string, Who>();
  for (const [traceId, own] of byTrace)
    ofTrace.set(
      traceId,
      defined({ user: only(own, "user"), conversationId: only(own, "conversationId") }),
    );
  const ofAll = { user: only(spans, "user"), conversationId: only(spans, "conversationId") };
  const above = (span: Span, name: Name): string | undefined => {
    const seen = new Set<Span>();
    for (let at: Span | undefined = span; at !== undefined && !seen.has(at);) {
      if (at[name] !== undefined) return at[name];
      seen.add(at);
      at = at.parentId === null ? undefined : byId.get(`${at.traceId}/${at.parentId}`);
    }
    return undefined;
  };
  const of = (span: Span, name: Name): string | undefined =>
    above(span, name) ?? ofTrace.get(span.traceId)?.[name] ?? ofAll[name];
  return (span) => defined({ user: of(span, "user"), conversationId: of(span, "conversationId") });
}
