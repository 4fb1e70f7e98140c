/**
 * Where the spans of each conversation are in a store: read once, so that conversations can be rebuilt one at a
 * time in memory that holds one of them and some numbers for each span.
 */
import { closeSync, openSync, readSync } from "node:fs";
import { addTo } from "../../util/group-by.ts";
import { readJournal, tracesParts } from "../store/read-journal.ts";
import type { Span } from "../store/span.ts";

interface Place {
  readonly part: number;
  readonly at: number;
  readonly bytes: number;
}

export interface SpanIndex {
  readonly spans: number;
  /** Lines that a kill had cut short. */
  readonly torn: number;
  readonly traces: number;
  readonly conversations: number;
  /** The spans of each conversation, in the order of their first arrival. */
  groups(): Generator<readonly Span[]>;
}

/** Each span once: exporters send again what was not answered. */
function distinct(spans: readonly Span[]): readonly Span[] {
  return [...new Map(spans.map((span) => [`${span.traceId}/${span.id}`, span])).values()];
}

/** @param onSpan called with each span of the first reading */
export function indexSpans(folder: string, onSpan: (span: Span) => void = () => {}): SpanIndex {
  const parts = tracesParts(folder);
  const places = new Map<string, Place[]>();
  const conversationOf = new Map<string, string>();
  let [spans, torn] = [0, 0];
  for (const [part, [, path]] of parts.entries()) {
    for (const line of readJournal<Span>(path)) {
      if ("torn" in line) {
        torn++;
        continue;
      }
      const { record, at, bytes } = line;
      spans++;
      addTo(places, record.traceId, { part, at, bytes });
      if (record.conversationId !== undefined)
        conversationOf.set(record.traceId, record.conversationId);
      onSpan(record);
    }
  }
  const tracesOf = new Map<string, string[]>();
  for (const trace of places.keys()) {
    const conversation = conversationOf.get(trace);
    // An id of a trace and one of a conversation may be the same text.
    addTo(tracesOf, conversation === undefined ? `t/${trace}` : `c/${conversation}`, trace);
  }
  return {
    spans,
    torn,
    traces: places.size,
    conversations: tracesOf.size,
    *groups() {
      const handles = parts.map(([, path]) => openSync(path, "r"));
      try {
        for (const traces of tracesOf.values()) {
          const own = traces.flatMap((trace) => places.get(trace) ?? []);
          yield distinct(own.map((place) => readSpan(handles, place)));
        }
      } finally {
        for (const handle of handles) closeSync(handle);
      }
    },
  };
}

function readSpan(handles: readonly number[], { part, at, bytes }: Place): Span {
  const buffer = Buffer.allocUnsafe(bytes);
  readSync(handles[part]!, buffer, 0, bytes, at);
  return JSON.parse(buffer.toString()) as Span;
}
