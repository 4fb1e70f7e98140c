/**
 * Where the spans of each conversation are in a store: read once, and sorted on the disk, so that conversations can be
 * rebuilt one at a time in memory that holds one of them, however many there are.
 */
import { createHash } from "node:crypto";
import { closeSync, openSync, readSync } from "node:fs";
import { ExternalSort } from "../../util/files/external-sort.ts";
import { readJournal, tracesParts } from "../store/read-journal.ts";
import type { Span } from "../store/span.ts";

export interface SpanIndex extends Disposable {
  readonly spans: number;
  /** Lines that a kill had cut short. */
  readonly torn: number;
  readonly traces: number;
  readonly conversations: number;
  /** When each trace began, sorted; empty unless it was asked for. */
  readonly begins: Float64Array;
  /** The spans of each conversation, in the order of their first arrival. */
  groups(): Generator<readonly Span[]>;
}

export interface IndexOptions {
  /** For files of the sort. */
  readonly scratch: string;
  /** Whether it is known when traces began. @default false */
  readonly begins?: boolean;
  /** Called before each span of the first reading. */
  readonly onSpan?: () => void;
  /** Spans that are sorted in memory. */
  readonly chunk?: number;
}

/** Records of the three sorts: what they are sorted by, then what they carry. Numbers are big-endian. */
const idBytes = 16;
/** part (4), at (6), bytes (4) */
const placeBytes = 14;
/** trace, number of the span | place, conversation, start in milliseconds (8) */
const spanBytes = idBytes + 4 + placeBytes + idBytes + 8;
/** conversation, number of the trace's first span, number | place */
const tracedBytes = idBytes + 8 + placeBytes;
/** number of the conversation's first span, of the trace's first, number | place */
const groupedBytes = 12 + placeBytes;

const idOf = (text: string): Buffer =>
  createHash("sha256").update(text).digest().subarray(0, idBytes);

const noConversation = Buffer.alloc(idBytes);

/** Each span once: exporters send again what was not answered. */
function distinct(spans: readonly Span[]): readonly Span[] {
  return [...new Map(spans.map((span) => [`${span.traceId}/${span.id}`, span])).values()];
}

/** Neighbors that begin with the same bytes; records are copied, since they are valid only one at a time. */
function* grouped(records: Iterable<Buffer>, keyBytes: number): Generator<readonly Buffer[]> {
  let group: Buffer[] = [];
  for (const record of records) {
    const [first] = group;
    if (first !== undefined && first.compare(record, 0, keyBytes, 0, keyBytes) !== 0) {
      yield group;
      group = [];
    }
    group.push(Buffer.from(record));
  }
  if (group.length > 0) yield group;
}

/** @throws what reading the store throws */
export function indexSpans(folder: string, options: IndexOptions): SpanIndex {
  const { scratch, onSpan = () => {}, chunk } = options;
  const parts = tracesParts(folder);
  let [spans, torn] = [0, 0];
  using byTrace = new ExternalSort(spanBytes, scratch, chunk);
  for (const [part, [, path]] of parts.entries()) {
    for (const line of readJournal<Span>(path)) {
      if ("torn" in line) {
        torn++;
        continue;
      }
      onSpan();
      const { traceId, conversationId, startMs } = line.record;
      const record = Buffer.alloc(spanBytes);
      idOf(`t/${traceId}`).copy(record);
      let at = record.writeUInt32BE(spans++, idBytes);
      at = record.writeUInt32BE(part, at);
      at = record.writeUIntBE(line.at, at, 6);
      at = record.writeUInt32BE(line.bytes, at);
      if (conversationId !== undefined) idOf(`c/${conversationId}`).copy(record, at);
      record.writeDoubleBE(startMs, at + idBytes);
      byTrace.add(record);
    }
  }
  using byConversation = new ExternalSort(tracedBytes, scratch, chunk);
  const { traces, begins } = addTraces(byTrace, byConversation, options);
  const byArrival = new ExternalSort(groupedBytes, scratch, chunk);
  const conversations = addConversations(byConversation, byArrival);
  return {
    spans,
    torn,
    traces,
    conversations,
    begins,
    *groups() {
      const handles = parts.map(([, path]) => openSync(path, "r"));
      try {
        for (const group of grouped(byArrival.sorted(), 4))
          yield distinct(group.map((record) => readSpan(handles, record.subarray(12))));
      } finally {
        for (const handle of handles) closeSync(handle);
      }
    },
    [Symbol.dispose]: () => byArrival[Symbol.dispose](),
  };
}

/** The last of its spans that names one says which conversation a trace belongs to. */
function addTraces(
  byTrace: ExternalSort,
  to: ExternalSort,
  { begins: asked = false }: IndexOptions,
): { readonly traces: number; readonly begins: Float64Array } {
  const conversationAt = idBytes + 4 + placeBytes;
  let traces = 0;
  let begins = new Float64Array(asked ? 1024 : 0);
  const out = Buffer.alloc(tracedBytes);
  for (const group of grouped(byTrace.sorted(), idBytes)) {
    const [first] = group as readonly [Buffer];
    const conversation = group
      .map((record) => record.subarray(conversationAt, conversationAt + idBytes))
      .findLast((id) => !id.equals(noConversation));
    // Ids of a trace and of a conversation may be the same text, but not their digests.
    (conversation ?? first.subarray(0, idBytes)).copy(out);
    first.copy(out, idBytes, idBytes, idBytes + 4);
    for (const record of group) {
      record.copy(out, idBytes + 4, idBytes, conversationAt);
      to.add(out);
    }
    if (asked) {
      if (traces === begins.length) {
        const longer = new Float64Array(2 * traces);
        longer.set(begins);
        begins = longer;
      }
      begins[traces] = Math.min(
        ...group.map((record) => record.readDoubleBE(conversationAt + idBytes)),
      );
    }
    traces++;
  }
  return { traces, begins: begins.subarray(0, asked ? traces : 0).sort() };
}

function addConversations(byConversation: ExternalSort, to: ExternalSort): number {
  let conversations = 0;
  const out = Buffer.alloc(groupedBytes);
  for (const group of grouped(byConversation.sorted(), idBytes)) {
    conversations++;
    const [first] = group as readonly [Buffer];
    first.copy(out, 0, idBytes, idBytes + 4);
    for (const record of group) {
      record.copy(out, 4, idBytes);
      to.add(out);
    }
  }
  return conversations;
}

function readSpan(handles: readonly number[], place: Buffer): Span {
  const buffer = Buffer.allocUnsafe(place.readUInt32BE(10));
  readSync(handles[place.readUInt32BE(0)]!, buffer, 0, buffer.length, place.readUIntBE(4, 6));
  return JSON.parse(buffer.toString()) as Span;
}
