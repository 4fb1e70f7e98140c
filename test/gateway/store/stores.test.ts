/** What every trace store does. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { Trace } from "../../../src/core/trace.ts";
import {
  createMemoryTraceStore,
  createSqliteTraceStore,
  type TraceStore,
} from "../../../src/gateway/index.ts";
import { createRandom } from "../../../src/util/random.ts";
import { concatIds, sampleIds, makeConversation, makeSession, makeTrace } from "./make-trace.ts";

const folder = mkdtempSync(join(tmpdir(), "stores-"));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;

/** `reopen` forgets what a store holds in memory, where there is something else. */
interface Kind {
  readonly name: string;
  open(): { store: TraceStore; reopen(): Promise<TraceStore> };
}

const kinds: readonly Kind[] = [
  {
    name: "memory",
    open: () => {
      const store = createMemoryTraceStore();
      return { store, reopen: () => Promise.resolve(store) };
    },
  },
  {
    name: "sqlite",
    open: () => {
      const path = join(folder, `${files++}.sqlite`);
      let store = createSqliteTraceStore(path);
      return {
        store,
        reopen: async () => {
          await store.close();
          store = createSqliteTraceStore(path);
          return store;
        },
      };
    },
  },
];

const ids = (traces: readonly Trace[]): string[] => traces.map((trace) => trace.id);

describe.each(kinds)("$name store", ({ open }) => {
  it("gives back what it was given, field by field", async () => {
    const { store, reopen } = open();
    const traces = [
      makeTrace(),
      makeTrace({ id: "not a uuid", sequence: 1, trajectoryUid: "s:solver", malformed: "cut" }),
      makeTrace({
        sequence: 2,
        untrainable: "client disconnected",
        weightVersion: null,
        messages: [
          { role: "system", content: "ü 😀 \u0000" },
          {
            role: "user",
            content: [
              { type: "text", text: "see" },
              { type: "image", url: "data:," },
            ],
          },
          { role: "tool", content: "", toolCallId: "call_1", name: "f" },
        ],
        tools: [{ name: "f", parameters: { type: "object", properties: {} } }],
        response: {
          role: "assistant",
          content: "",
          reasoning: "hm",
          toolCalls: [{ id: "call_2", name: "f", arguments: '{"a": 1}' }],
        },
        promptIds: new Int32Array(0),
        responseIds: Int32Array.of(2 ** 31 - 1, 0, 127, 128, 16_383, 16_384),
        logprobs: Float32Array.of(-0, Number.NEGATIVE_INFINITY, Math.fround(-0.1), 1e-45, NaN, -1),
      }),
      makeTrace({ sequence: 3, content: "x".repeat(40_000) } as Partial<Trace>),
      makeTrace({ sequence: 4, temperedLogprobs: Float32Array.of(-0.2, -1e-12, -20) }),
      // Two choices of one call, the second told of nothing.
      makeTrace({ sequence: 5, temperedLogprobs: Float32Array.of(-0.3, 0, -2) }),
      makeTrace({
        sequence: 5,
        choice: 1,
        responseIds: Int32Array.of(1, 2),
        logprobs: Float32Array.of(-1, -2),
        temperedLogprobs: Float32Array.of(-1.5, -2.5),
      }),
      makeTrace({ sequence: 5, choice: 2, logprobs: new Float32Array(0) }),
    ];
    for (const trace of traces) await store.append([trace]);
    const again = await reopen();
    expect(await again.bySession("s")).toEqual(traces);
    for (const trace of traces) expect(await again.get(trace.id)).toEqual(trace);
    expect(await again.get("unknown")).toBeUndefined();
  });

  it("gives back a large schema, however often", async () => {
    const { store, reopen } = open();
    const schema = {
      enum: Array.from({ length: 400 }, (_, i) => [i, "é", null, { __proto__x: i }]),
    };
    const large = makeTrace({ serverFields: { response_format: { json_schema: { schema } } } });
    const small = makeTrace({ sequence: 1, serverFields: { tool_choice: "required" } });
    await store.append([large, small]);
    const again = await reopen();
    for (let i = 0; i < 2; i++) expect(await again.get(large.id)).toEqual(large);
    expect(await again.bySession("s")).toEqual([large, small]);
    const page = await again.page({ sessionUid: "s", limit: 10 });
    expect(page.traces).toEqual([large, small]);
  });

  it("keeps a conversation whole", async () => {
    const { store, reopen } = open();
    const traces = makeConversation("s", 20);
    for (const trace of traces) await store.append([trace]);
    const again = await reopen();
    expect(await again.get(traces[19]!.id)).toEqual(traces[19]);
    expect(await again.bySession("s")).toEqual(traces);
    // A turn after the restart, continuing one from before it.
    const parent = traces[11] as Trace;
    const branch = makeTrace({
      sequence: 20,
      parentId: parent.id,
      messages: [...parent.messages, parent.response, { role: "user", content: "or else?" }],
      promptIds: concatIds(parent.promptIds, parent.responseIds, Int32Array.of(9, 8, 7)),
    });
    await again.append([branch]);
    expect(await (await reopen()).get(branch.id)).toEqual(branch);
  });

  it("keeps whatever a parent is said to be", async () => {
    const { store, reopen } = open();
    const first = makeTrace({ promptIds: sampleIds(50, 1) });
    const other = makeTrace({ sessionUid: "other", promptIds: first.promptIds });
    const odd = [
      makeTrace({ sequence: 1, parentId: first.id, promptIds: sampleIds(10, 2) }),
      makeTrace({ sequence: 2, parentId: other.id, promptIds: first.promptIds }),
      makeTrace({ sequence: 3, parentId: "nobody", promptIds: first.promptIds }),
      makeTrace({ sequence: 4, promptIds: first.promptIds.slice(0, 30), messages: [] }),
    ];
    for (const trace of [first, other, ...odd]) await store.append([trace]);
    expect(await (await reopen()).bySession("s")).toEqual([first, ...odd]);
  });

  it("keeps the choices of a call together", async () => {
    const { store, reopen } = open();
    const choices = [0, 1, 2].map((choice) =>
      makeTrace({
        choice,
        response: { role: "assistant", content: `answer ${choice}` },
        responseIds: sampleIds(5 + choice, choice),
        logprobs: new Float32Array(5 + choice),
        ...(choice === 1 ? {} : { malformed: `cut ${choice}` }),
        weightVersion: choice,
      }),
    );
    await store.append(choices);
    expect(await (await reopen()).bySession("s")).toEqual(choices);
  });

  it("takes all traces of a call or none", async () => {
    const { store } = open();
    const known = makeTrace();
    await store.append([known]);
    const fresh = makeTrace({ sequence: 1 });
    const attempt = async (): Promise<void> => store.append([fresh, { ...known, sequence: 1 }]);
    await expect(attempt()).rejects.toMatchObject({ code: "STORE_FAILED", reason: "duplicate" });
    expect(ids(await store.bySession("s"))).toEqual([known.id]);
    await store.append([fresh]);
    expect(await store.get(fresh.id)).toEqual(fresh);
  });

  it("does not let one bad call take others with it", async () => {
    const { store } = open();
    const known = makeTrace();
    await store.append([known]);
    const good = [1, 2, 3].map((sequence) => makeTrace({ sequence }));
    const append = async (trace: Trace): Promise<void> => store.append([trace]);
    const results = await Promise.allSettled([known, ...good].map(append));
    expect(results.map((result) => result.status)).toEqual([
      "rejected",
      "fulfilled",
      "fulfilled",
      "fulfilled",
    ]);
    expect(ids(await store.bySession("s"))).toEqual(ids([known, ...good]));
  });

  it("orders a session by dispatch and pages it by arrival", async () => {
    const { store, reopen } = open();
    const order = [3, 0, 2, 4, 1];
    const traces = order.map((sequence, i) => makeTrace({ sequence, finishedAt: 1000 + i }));
    for (const trace of traces) {
      await store.append([makeTrace({ sessionUid: "other" })]);
      await store.append([trace]);
    }
    const again = await reopen();
    expect((await again.bySession("s")).map((trace) => trace.sequence)).toEqual([0, 1, 2, 3, 4]);
    const seen: string[] = [];
    let after = 0;
    for (;;) {
      const page = await again.page({ sessionUid: "s", after, limit: 2 });
      if (page.traces.length === 0) {
        expect(page.cursor).toBe(after);
        break;
      }
      seen.push(...ids(page.traces));
      after = page.cursor;
    }
    expect(seen).toEqual(ids(traces));
    const late = await again.page({ sessionUid: "s", since: 1003, limit: 10 });
    expect(ids(late.traces)).toEqual(ids(traces.slice(3)));
    expect((await again.page({ sessionUid: "none", limit: 1 })).traces).toEqual([]);
    const next = makeTrace({ sequence: 5 });
    await again.append([next]);
    expect(ids((await again.page({ sessionUid: "s", after, limit: 9 })).traces)).toEqual([next.id]);
  });

  it("keeps sessions and forgets them with their traces", async () => {
    const { store, reopen } = open();
    const early = makeSession({ uid: "early", createdAt: 1 });
    const { metadata: _none, ...plain } = makeSession({ uid: "", createdAt: 3.5 });
    await store.saveSession(makeSession({ sampling: {} }));
    await store.saveSession(plain);
    await store.saveSession(early);
    await store.saveSession(makeSession({ createdAt: 2 }));
    for (const sequence of [0, 1]) await store.append([makeTrace({ sequence })]);
    const lone = makeTrace({ sessionUid: "never saved" });
    await store.append([lone]);
    const again = await reopen();
    expect(again.sessions()).toEqual([
      { ...early, traceCount: 0 },
      { ...makeSession({ createdAt: 2 }), traceCount: 2 },
      { ...plain, traceCount: 0 },
    ]);
    expect(await again.deleteSession("s")).toBe(2);
    expect(await again.deleteSession("s")).toBe(0);
    expect(await again.bySession("s")).toEqual([]);
    const last = await reopen();
    expect(last.sessions().map(({ uid }) => uid)).toEqual(["early", ""]);
    expect(await last.deleteSession("never saved")).toBe(1);
  });

  it("keeps random trees of calls exactly", async () => {
    const { store, reopen } = open();
    const random = createRandom(11);
    const below = (n: number): number => Math.floor(random() * n);
    const traces: Trace[] = [];
    for (let sequence = 0; sequence < 150; sequence++) {
      const parent = random() < 0.7 ? traces[below(traces.length)] : undefined;
      const base = parent ?? traces[below(traces.length)];
      const kept = parent ? parent.messages.length : below(3);
      const call = {
        sessionUid: `s${below(2)}`,
        sequence,
        messages: [
          ...(base?.messages.slice(0, kept) ?? []),
          ...(parent && random() < 0.8 ? [parent.response] : []),
          { role: "user" as const, content: `m${below(5)}` },
        ],
        tools: random() < 0.5 ? [] : [{ name: `t${below(2)}` }],
        promptIds: parent
          ? concatIds(parent.promptIds, parent.responseIds, sampleIds(below(20), sequence))
          : concatIds(base?.promptIds.slice(0, below(60)) ?? new Int32Array(0), sampleIds(9, 5)),
        parentId: parent?.id ?? null,
      };
      const batch = Array.from({ length: 1 + below(3) }, (_, choice) =>
        makeTrace({ ...call, choice, responseIds: sampleIds(below(30), below(4)) }),
      );
      await store.append(structuredClone(batch));
      traces.push(...batch);
    }
    const again = await reopen();
    for (const uid of ["s0", "s1"]) {
      expect(await again.bySession(uid)).toEqual(traces.filter((each) => each.sessionUid === uid));
    }
  });

  it("refuses traces after it was closed", async () => {
    const { store } = open();
    const pending = Promise.resolve(store.append([makeTrace()]));
    await store.flush();
    await store.close();
    await store.close();
    await expect(pending).resolves.toBeUndefined();
    const late = async (): Promise<void> => store.append([makeTrace()]);
    await expect(late()).rejects.toMatchObject({ code: "STORE_FAILED", reason: "closed" });
  });
});
