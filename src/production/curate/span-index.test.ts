/** Against grouping whole spans, on stores whose spans come in any order and more than once. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createRandom } from "../../util/random.ts";
import { addTo } from "../../util/group-by.ts";
import { ProductionStore, readSpans } from "../store/production-store.ts";
import type { Span } from "../store/span.ts";
import { indexSpans } from "./span-index.ts";

function inMemory(folder: string): readonly (readonly Span[])[] {
  const byTrace = new Map<string, Span[]>();
  const conversationOf = new Map<string, string>();
  for (const span of readSpans(folder)) {
    addTo(byTrace, span.traceId, span);
    if (span.conversationId !== undefined) conversationOf.set(span.traceId, span.conversationId);
  }
  const groups = new Map<string, Span[]>();
  for (const [trace, spans] of byTrace) {
    const conversation = conversationOf.get(trace);
    const key = conversation === undefined ? `t/${trace}` : `c/${conversation}`;
    groups.set(key, [...(groups.get(key) ?? []), ...spans]);
  }
  return [...groups.values()].map((spans) => [
    ...new Map(spans.map((span) => [`${span.traceId}/${span.id}`, span])).values(),
  ]);
}

it.each([1, 2, 3, 4])(
  "has the conversations in the order of their arrival, seed %i",
  async (seed) => {
    const folder = mkdtempSync(join(tmpdir(), "index-"));
    const random = createRandom(seed);
    const pick = (count: number): number => Math.floor(random() * count);
    const store = new ProductionStore(join(folder, "store"), { partBytes: 5000 });
    const spans = Array.from({ length: 300 }, (): Span => {
      const name = ["0", "1", "2"][pick(3)]!;
      return {
        ...{ traceId: String(pick(60)), id: String(pick(5)), parentId: null, name },
        ...{ kind: "other", source: "otel", startMs: pick(1000), endMs: 0 },
        // The same texts as those of traces.
        ...(random() < 0.4 ? { conversationId: String(pick(20)) } : {}),
      };
    });
    for (let i = 0; i < spans.length; i += 20) await store.addSpans(spans.slice(i, i + 20));
    await store.close();
    const stored = join(folder, "store");
    const wanted = inMemory(stored);
    const index = indexSpans(stored);
    expect([...index.groups()]).toEqual(wanted);
    expect([...index.groups()]).toEqual(wanted);
    const byTrace = new Map<string, number>();
    for (const { traceId, startMs } of spans)
      byTrace.set(traceId, Math.min(startMs, byTrace.get(traceId) ?? Infinity));
    const begins = [...byTrace.values()];
    expect(index.begins).toEqual(begins.toSorted((a, b) => a - b));
    expect(index).toMatchObject({
      spans: 300,
      traces: begins.length,
      conversations: wanted.length,
    });
    rmSync(folder, { recursive: true });
  },
);
