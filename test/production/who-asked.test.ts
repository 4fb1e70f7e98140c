/** Users and conversations where only some spans name them, and the ratings of what was asked more than once. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { curate } from "../../src/production/curate/curate.ts";
import { indexSpans } from "../../src/production/curate/span-index.ts";
import { Split } from "../../src/production/curate/split.ts";
import { rebuildTurns, type Turn } from "../../src/production/curate/turns.ts";
import { importFile } from "../../src/production/import/import-file.ts";
import { emptyCounts } from "../../src/production/receiver/keep-otlp.ts";
import type { FeedbackInput } from "../../src/production/store/feedback.ts";
import { ProductionStore, readFeedback } from "../../src/production/store/production-store.ts";
import type { Span } from "../../src/production/store/span.ts";
import { createRandom } from "../../src/util/random.ts";

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "who-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

let next = 0;
const call = (traceId: string, question: string, more: Partial<Span> = {}): Span => {
  const n = next++;
  return {
    ...{ traceId, id: `s${n}`, parentId: null, name: "chat", kind: "model", source: "otel" },
    ...{ startMs: n, endMs: n + 1 },
    model: {
      model: "m",
      messages: [{ role: "user", content: question }],
      tools: [],
      response: { role: "assistant", content: `answer ${n}` },
      completeness: { state: "complete" },
    },
    ...more,
  };
};
const agent = (traceId: string, id: string, more: Partial<Span> = {}): Span => ({
  ...{ traceId, id, parentId: null, name: "agent", kind: "agent", source: "otel" },
  ...{ startMs: 0, endMs: 0 },
  ...more,
});

async function store(
  spans: readonly Span[],
  feedback: readonly FeedbackInput[] = [],
): Promise<string> {
  await using into = new ProductionStore(join(folder, "store"));
  await into.addSpans(spans);
  await into.addFeedback(feedback);
  return into.folder;
}

/** Turns of both sides, as the split has them. */
function sides(from: string, fraction: number): { train: Turn[]; val: Turn[] } {
  const index = indexSpans(from);
  const split = new Split({ by: "user", fraction, from: 0 }, () => index.groups());
  const result = { train: [] as Turn[], val: [] as Turn[] };
  for (const spans of index.groups())
    result[split.isHeldOut(spans) ? "val" : "train"].push(...rebuildTurns(spans).turns);
  return result;
}

describe("the split", () => {
  it.each([1, 2, 3, 4, 5])(
    "has each user and each conversation on one side, seed %i",
    async (seed) => {
      const random = createRandom(seed);
      const pick = (count: number): number => Math.floor(random() * count);
      const spans = Array.from({ length: 600 }, (_, i) => {
        const conversation = pick(120);
        // Half of the turns name nobody; some conversations have two users, some traces two conversations.
        const user =
          random() < 0.5 ? {} : { user: `u${(conversation + (pick(9) === 0 ? 1 : 0)) % 60}` };
        const named = random() < 0.2 ? {} : { conversationId: `c${conversation}` };
        return call(random() < 0.02 ? "shared" : `t${conversation}-${pick(4)}`, `Question ${i}`, {
          ...user,
          ...named,
        });
      });
      const { train, val } = sides(await store(spans), 0.3);
      expect(Math.min(train.length, val.length)).toBeGreaterThan(0);
      for (const name of ["user", "conversationId", "traceId"] as const) {
        const of = (turns: readonly Turn[]): Set<unknown> =>
          new Set(turns.flatMap((turn) => turn[name] ?? []));
        expect(
          [...of(val)].filter((one) => of(train).has(one)),
          name,
        ).toEqual([]);
      }
    },
  );

  it("is that of a user by name, as long as nobody else is in their conversations", async () => {
    const spans = Array.from({ length: 40 }, (_, i) => call(`t${i}`, `q${i}`, { user: `u${i}` }));
    const { val } = sides(await store(spans), 0.25);
    const again = sides(await store([call("more", "q", { user: "other" })]), 0.25);
    expect(again.val.map(({ user }) => user)).toEqual(
      expect.arrayContaining(val.map(({ user }) => user)),
    );
  });

  it("writes no conversation to both sides", async () => {
    const spans = Array.from({ length: 300 }, (_, i) =>
      call(`t${i}`, `What is the price of the hat with the number ${i}?`, {
        conversationId: `c${i % 100}`,
        ...(i < 100 ? { user: `u${i}` } : {}),
      }),
    );
    const output = join(folder, "out");
    await curate({ folder: await store(spans), output, unrated: true, valFraction: 0.3 });
    const numbers = (file: string): string[] =>
      [...readFileSync(join(output, file), "utf8").matchAll(/number (\d+)\?/gu)].map(([, number]) =>
        String(Number(number) % 100),
      );
    const trained = new Set(numbers("demonstrations.jsonl"));
    const held = numbers("val/demonstrations.jsonl");
    expect(held.length).toBeGreaterThan(10);
    expect(held.filter((one) => trained.has(one))).toEqual([]);
  });
});

describe("who asked", () => {
  const who = (spans: readonly Span[]): unknown[] =>
    rebuildTurns(spans).turns.map(({ user, conversationId }) => [user, conversationId]);

  it("is what a span says itself", () => {
    const spans = [
      call("t", "a", { user: "u1", conversationId: "c1" }),
      call("t", "b", { user: "u2", conversationId: "c2" }),
      call("t", "c"),
    ];
    expect(who(spans)).toEqual([
      ["u1", "c1"],
      ["u2", "c2"],
      [undefined, undefined],
    ]);
  });

  it("is what the nearest span above says", () => {
    const spans = [
      agent("t", "a1", { user: "u1" }),
      agent("t", "a2", { user: "u2" }),
      agent("t", "a3", { parentId: "a2" }),
      call("t", "a", { parentId: "a1" }),
      call("t", "b", { parentId: "a3" }),
    ];
    expect(who(spans)).toEqual([
      ["u1", undefined],
      ["u2", undefined],
    ]);
  });

  it("is what all others of its trace, or of its conversation, say", () => {
    expect(who([call("t", "a"), call("t", "b", { user: "u", conversationId: "c" })])).toEqual([
      ["u", "c"],
      ["u", "c"],
    ]);
    const spans = [call("t1", "a", { user: "u", conversationId: "c" }), call("t2", "b")];
    expect(who(spans)).toEqual([
      ["u", "c"],
      ["u", "c"],
    ]);
  });
});

describe("ratings", () => {
  const rated = async (
    spans: readonly Span[],
    feedback: readonly FeedbackInput[],
    more: object = {},
  ): Promise<{ answers: unknown; report: Awaited<ReturnType<typeof curate>> }> => {
    const output = join(folder, "out");
    rmSync(output, { recursive: true, force: true });
    const from = await store(spans, feedback);
    const report = await curate({ folder: from, output, valFraction: 0, ...more });
    const rows = readFileSync(join(output, "feedback.jsonl"), "utf8").trim().split("\n");
    const answers = rows
      .filter((row) => row !== "")
      .map((row) => JSON.parse(row) as { completion: { content: string }[]; label: boolean })
      .map(({ completion, label }) => [completion.at(-1)!.content, label]);
    return { answers, report };
  };
  const saying = (traceId: string, content: string, more: Partial<Span> = {}): Span => {
    const span = call(traceId, "Which hat is warm?", more);
    const responseId = `r-${content}`;
    const response = { role: "assistant", content } as const;
    return { ...span, model: { ...span.model!, responseId, response } };
  };

  it("are kept where a question is asked twice in a session", async () => {
    const inSession = { conversationId: "c" };
    const spans = [saying("t1", "wool", inSession), saying("t2", "straw", inSession)];
    const { answers, report } = await rated(spans, [
      { traceId: "t1", thumb: "up" },
      { traceId: "t2", thumb: "down" },
    ]);
    expect(answers).toEqual([
      ["wool", true],
      ["straw", false],
    ]);
    expect(report).toMatchObject({ turns: 2, calls: { retries: 0 }, feedback: { matched: 2 } });
  });

  it("are kept where it is asked twice in a trace, by the ids of the responses", async () => {
    const spans = [saying("t", "wool"), saying("t", "straw"), saying("t", "felt")];
    const { answers, report } = await rated(spans, [
      { responseId: "r-wool", thumb: "up" },
      { responseId: "r-felt", thumb: "down" },
    ]);
    expect(answers).toEqual([
      ["wool", true],
      ["felt", false],
    ]);
    expect(report).toMatchObject({ turns: 2, calls: { retries: 1 }, feedback: { matched: 2 } });
  });

  it("of a conversation are about its last turn, also where a trace has several", async () => {
    const spans = [
      saying("t", "wool", { conversationId: "c1" }),
      saying("t2", "straw", { conversationId: "c2" }),
      { ...saying("t", "felt", { conversationId: "c2" }), endMs: 1e6 },
    ];
    spans[2] = {
      ...spans[2]!,
      model: { ...spans[2]!.model!, messages: [{ role: "user", content: "And?" }] },
    };
    const { answers } = await rated(spans, [{ conversationId: "c2", thumb: "up" }]);
    expect(answers).toEqual([["felt", true]]);
  });

  it("by several names are averaged, each with its last value", async () => {
    const at = (score: number, name: string, time: number): FeedbackInput => ({
      ...{ traceId: "t", score, name, at: time },
    });
    const { answers } = await rated(
      [saying("t", "wool")],
      [
        at(1, "user-feedback", 1),
        at(0, "rating", 2),
        at(1, "rating", 3),
        at(0, "hallucination", 4),
      ],
    );
    expect(answers).toEqual([["wool", true]]);
  });

  it("are those of a name that is chosen", async () => {
    const named = (score: number, name: string): FeedbackInput => ({ traceId: "t", score, name });
    const feedback = [named(1, "user-feedback"), named(0, "helpfulness")];
    const spans = [saying("t", "wool")];
    expect((await rated(spans, feedback)).answers).toEqual([["wool", true]]);
    expect((await rated([], [], { rating: "helpfulness" })).answers).toEqual([["wool", false]]);
    expect((await rated([], [], { rating: "user-feedback" })).answers).toEqual([["wool", true]]);
    expect((await rated([], [], { rating: "stars" })).answers).toEqual([]);
    expect(
      (await rated([], [{ traceId: "t", thumb: "down" }], { rating: "stars" })).answers,
    ).toEqual([["wool", false]]);
  });
});

describe("scores of services", () => {
  const collected = async (
    format: string,
    rows: readonly object[],
    rating?: string,
  ): Promise<unknown[]> => {
    const file = join(folder, "rows.jsonl");
    writeFileSync(file, rows.map((row) => JSON.stringify(row)).join("\n"));
    const into = new ProductionStore(join(folder, `store-${rating ?? ""}`));
    const chosen = rating === undefined ? {} : { rating };
    await importFile(file, { store: into, format, counts: emptyCounts(), ...chosen });
    await into.close();
    return [...readFeedback(into.folder)].map(({ score, outcome }) => [score, outcome]);
  };
  const langfuse = (
    name: string,
    value: unknown,
    dataType = "NUMERIC",
    more: object = {},
  ): object => ({
    ...{ id: name, traceId: "t", timestamp: "2025-01-01T00:00:00Z", name, value, dataType },
    ...more,
  });

  it.each<readonly [string, object, unknown, Readonly<Record<string, unknown>>]>([
    ["langfuse", langfuse("User Feedback", 1), 1, { "User Feedback": 1 }],
    ["langfuse", langfuse("thumbs_up", 1, "BOOLEAN"), 1, { thumbs_up: true }],
    ["langfuse", langfuse("thumbs_down", 1, "BOOLEAN"), undefined, { thumbs_down: true }],
    ["langfuse", langfuse("rating", 4), undefined, { rating: 4 }],
    ["langfuse", langfuse("hallucination", 0), undefined, { hallucination: 0 }],
    [
      "langfuse",
      langfuse("feedback", 1, "CATEGORICAL", { stringValue: "good" }),
      undefined,
      { feedback: "good" },
    ],
    ["langsmith", { run_id: "r", key: "user_score", score: 0 }, 0, { user_score: 0 }],
    ["langsmith", { run_id: "r", key: "correctness", score: 1 }, undefined, { correctness: 1 }],
    ["langsmith", { run_id: "r", key: "tone", value: "warm" }, undefined, { tone: "warm" }],
    ["langsmith", { run_id: "r", key: "latency", score: 0.8 }, undefined, { latency: 0.8 }],
    ["feedback", { traceId: "t", score: 0.8, name: "latency" }, undefined, { latency: 0.8 }],
    ["feedback", { traceId: "t", score: 0.8, name: "thumbs" }, 0.8, { thumbs: 0.8 }],
    ["feedback", { traceId: "t", score: 0.8, outcome: { won: true } }, 0.8, { won: true }],
  ])("%s %j", async (format, row, score, outcome) => {
    expect(await collected(format, [row])).toEqual([[score, outcome]]);
  });

  it("braintrust", async () => {
    const row = { id: "b", scores: { Factuality: 1, "user-rating": 0, cost: null } };
    expect(await collected("braintrust", [row])).toEqual([
      [undefined, { Factuality: 1 }],
      [0, { "user-rating": 0 }],
    ]);
  });

  it("of a name that is chosen are ratings, and keep it", async () => {
    expect(await collected("langfuse", [langfuse("helpfulness", 0.7)], "helpfulness")).toEqual([
      [0.7, { helpfulness: 0.7 }],
    ]);
  });
});

describe("a file that is imported twice", () => {
  const importing = async (rows: readonly object[]): Promise<readonly number[]> => {
    const file = join(folder, "rows.jsonl");
    writeFileSync(file, rows.map((row) => JSON.stringify(row)).join("\n"));
    await using into = new ProductionStore(join(folder, "store"));
    const counts = emptyCounts();
    await importFile(file, { store: into, format: "feedback", counts });
    return [counts.feedback, counts.known, [...readFeedback(into.folder)].length];
  };

  it("adds its feedback once, with times and without", async () => {
    const rows = [
      { traceId: "a", thumb: "up" },
      { traceId: "a", thumb: "down", at: "2025-01-01T00:00:00Z" },
      { traceId: "a", thumb: "up", at: "2025-01-02T00:00:00Z" },
    ];
    const first = await importing(rows);
    expect(first).toEqual([3, 0, 3]);
    expect(await importing(rows)).toEqual([0, 3, 3]);
    // Who changes their mind back says something new.
    const later = { traceId: "a", thumb: "down", at: "2025-01-03T00:00:00Z" };
    expect(await importing([...rows, later])).toEqual([1, 3, 4]);
  });

  it("has the same record once in itself", async () => {
    expect(
      await importing([
        { traceId: "a", thumb: "up" },
        { traceId: "a", thumb: "up" },
      ]),
    ).toEqual([1, 1, 1]);
  });
});
