/** Where the spans of each conversation are in a store: read once, so that conversations are rebuilt one at a time. */
import { closeSync, openSync, readSync } from "node:fs";
import { ConfigError } from "../../core/errors.ts";
import { addTo } from "../../util/group-by.ts";
import { readJournal, tracesParts } from "../store/read-journal.ts";
import type { Span } from "../store/span.ts";

/** Spans whose places are kept in memory: with what else is known of a span, some 600 bytes for each. */
const maxSpans = 5_000_000;

export interface SpanIndex {
  readonly spans: number;
  /** Lines that a kill had cut short. */
  readonly torn: number;
  readonly traces: number;
  readonly conversations: number;
  /** When each trace began, sorted. */
  readonly begins: readonly number[];
  /** The spans of each conversation, in the order of their first arrival. */
  groups(): Generator<readonly Span[]>;
}

interface Place {
  readonly part: number;
  readonly at: number;
  readonly bytes: number;
}

/** Each span once: exporters send again what was not answered. */
function distinct(spans: readonly Span[]): readonly Span[] {
  return [...new Map(spans.map((span) => [`${span.traceId}/${span.id}`, span])).values()];
}

/**
 * @param onSpan called before each span of the first reading
 * @throws ConfigError for more spans than memory has room for; what reading the store throws
 */
export function indexSpans(folder: string, onSpan: () => void = () => {}): SpanIndex {
  const parts = tracesParts(folder);
  const traces = new Map<string, { key: string; beganAt: number; readonly places: Place[] }>();
  let [spans, torn] = [0, 0];
  for (const [part, [, path]] of parts.entries()) {
    for (const line of readJournal<Span>(path)) {
      if ("torn" in line) {
        torn++;
        continue;
      }
      onSpan();
      if (++spans > maxSpans) throw tooManySpans(folder);
      const { traceId, conversationId, startMs } = line.record;
      const trace = traces.get(traceId) ?? { key: `t/${traceId}`, beganAt: Infinity, places: [] };
      traces.set(traceId, trace);
      trace.places.push({ part, at: line.at, bytes: line.bytes });
      trace.beganAt = Math.min(trace.beganAt, startMs);
      // The last of its spans that names one says which conversation a trace belongs to.
      if (conversationId !== undefined) trace.key = `c/${conversationId}`;
    }
  }
  const conversations = new Map<string, (readonly Place[])[]>();
  for (const { key, places } of traces.values()) addTo(conversations, key, places);
  return {
    spans,
    torn,
    traces: traces.size,
    conversations: conversations.size,
    begins: Array.from(traces.values(), ({ beganAt }) => beganAt).sort((a, b) => a - b),
    *groups() {
      const handles = parts.map(([, path]) => openSync(path, "r"));
      try {
        for (const places of conversations.values())
          yield distinct(places.flat().map((place) => readSpan(handles[place.part]!, place)));
      } finally {
        for (const handle of handles) closeSync(handle);
      }
    },
  };
}

function tooManySpans(folder: string): ConfigError {
  return new ConfigError({
    message: `${folder} has more than ${maxSpans.toLocaleString("en")} spans.`,
    hint: "Move its older traces-....jsonl files into another folder, and curate each.",
    fields: { folder, maxSpans },
  });
}

function readSpan(handle: number, { at, bytes }: Place): Span {
  const buffer = Buffer.allocUnsafe(bytes);
  readSync(handle, buffer, 0, bytes, at);
  return JSON.parse(buffer.toString()) as Span;
}
