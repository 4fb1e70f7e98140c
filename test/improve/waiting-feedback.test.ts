/** Feedback that comes before its trace: a later round uses it. */
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { loadImproveConfig } from "../../src/config/improve/improve-config.ts";
import { curateStage, newFeedback } from "../../src/launch/improve/curate-stage.ts";
import { ProductionStore } from "../../src/production/store/production-store.ts";
import type { Span } from "../../src/production/store/span.ts";
import type { CurateStage, Round } from "../../src/runs/rounds/round.ts";
import { mkdirSync } from "node:fs";
import { newProduction, type Production } from "./shop-production.ts";

let production: Production;
beforeEach(() => void (production = newProduction()));
afterEach(() => production[Symbol.dispose]());

const spanOf = (id: string, response: Span["model"] & object): Span => ({
  ...{ traceId: id, id: `${id}-${response.messages.length}`, parentId: null, name: "chat" },
  ...{ kind: "model", source: "otel", startMs: 1, endMs: response.messages.length },
  model: response,
});
const asked = (id: string) => ({ role: "user", content: `How much is the hat ${id}?` }) as const;
const answered = (id: string): Span =>
  spanOf(id, {
    ...{ model: "m", tools: [], completeness: { state: "complete" } },
    messages: [asked(id)],
    response: { role: "assistant", content: `It costs ${id}.` },
  });

async function add(spans: readonly Span[], ids: readonly string[]): Promise<void> {
  await using store = new ProductionStore(join(production.folder, "production"));
  await store.addSpans(spans);
  await store.addFeedback(ids.map((traceId) => ({ traceId, thumb: "up" as const })));
}

const rounds: Round[] = [];
beforeEach(() => void (rounds.length = 0));

/** A round that is curated, and ends so. */
async function round(
  status: Round["status"],
  minRows = 1,
  more: readonly string[] = [],
): Promise<CurateStage> {
  const config = loadImproveConfig(production.file, [`curate.min_rows=${minRows}`, ...more]);
  const number = rounds.length + 1;
  mkdirSync(join(config.folder, `round-${String(number).padStart(6, "0")}`), { recursive: true });
  const { signal } = new AbortController();
  const unused = newFeedback(rounds);
  const curate = await curateStage({ config, round: number, unused, signal });
  rounds.push({ round: number, status, curate } as Round);
  return curate;
}

it("waits until its trace is here, and is used once", async () => {
  await add([answered("1")], ["1", "2", "3"]);
  expect(await round("refused")).toMatchObject({
    rows: { train: 1 },
    feedback: { from: 0, to: 3, waiting: [1, 2] },
  });
  await add([answered("2"), answered("4")], ["4"]);
  expect(await round("refused")).toMatchObject({
    rows: { train: 2 },
    feedback: { from: 3, to: 4, waiting: [2] },
  });
  await add([answered("3")], []);
  expect(await round("refused")).toMatchObject({
    rows: { train: 1 },
    feedback: { from: 4, to: 4, waiting: [] },
  });
});

it("stays free in a round that had too little, or was abandoned", async () => {
  await add([answered("1")], ["1", "2"]);
  await round("refused");
  await add([answered("2"), answered("3")], ["3"]);
  expect(await round("too little", 10)).toMatchObject({
    rows: { train: 2 },
    feedback: { from: 2, to: 2, waiting: [1] },
  });
  expect(await round("abandoned")).toMatchObject({ rows: { train: 2 } });
  expect(await round("refused")).toMatchObject({ rows: { train: 2 }, feedback: { to: 3 } });
});

it("waits for the end of a turn of which only the beginning is here", async () => {
  const toolCalls = [{ id: "c", name: "look", arguments: "{}" }];
  const called = { role: "assistant", content: "", toolCalls } as const;
  const begun = spanOf("1", { ...answered("1").model!, response: called });
  await add([begun, answered("2")], ["1", "2"]);
  expect(await round("refused")).toMatchObject({
    ...{ rows: { train: 1 }, dropped: { unfinished: 1 } },
    feedback: { waiting: [0] },
  });
  const result = { role: "tool", toolCallId: "c", content: "7" } as const;
  const end = { ...answered("1").model!, messages: [asked("1"), called, result] };
  await add([spanOf("1", end)], []);
  expect(await round("refused")).toMatchObject({ rows: { train: 1 }, feedback: { waiting: [] } });
});

it("is the score of the name that curate.rating has", async () => {
  await add([answered("1")], []);
  await using store = new ProductionStore(join(production.folder, "production"));
  await store.addFeedback([{ traceId: "1", score: 0, name: "helpfulness" }]);
  expect(await round("refused")).toMatchObject({ rows: { train: 0 } });
  const all = ["curate.rating=helpfulness", "curate.feedback=all"];
  expect(await round("refused", 1, all)).toMatchObject({ rows: { train: 1 }, bad: 1, good: 0 });
});
