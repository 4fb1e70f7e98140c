/**
 * Exports of tracing services. LangSmith's runs are made by its own client (`langsmith`, in `RunTree`); the others
 * have the fields of the published API references: Langfuse's `TraceWithFullDetails`, Braintrust's `ProjectLogsEvent`,
 * and the rows that Helicone's export tool writes. OTLP is what a collector's file exporter writes: a request per line.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AIMessage, HumanMessage, SystemMessage } from "@langchain/core/messages";
import { Client } from "langsmith";
import { RunTree } from "langsmith/run_trees";
import { afterEach, beforeEach, expect, it } from "vitest";
import { rebuildTurns } from "../../src/production/curate/turns.ts";
import { importFile } from "../../src/production/import/import-file.ts";
import { emptyCounts } from "../../src/production/receiver/keep-otlp.ts";
import {
  ProductionStore,
  readFeedback,
  readSpans,
} from "../../src/production/store/production-store.ts";

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "imports-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function imported(format: string, rows: readonly unknown[] | string, name = "export.jsonl") {
  const file = join(folder, name);
  const text = typeof rows === "string" ? rows : rows.map((row) => JSON.stringify(row)).join("\n");
  writeFileSync(file, text);
  const store = new ProductionStore(join(folder, "store"));
  const counts = emptyCounts();
  await importFile(file, { store, format, counts });
  await store.close();
  const spans = [...readSpans(store.folder)];
  return {
    counts,
    spans,
    turns: rebuildTurns(spans).turns,
    feedback: [...readFeedback(store.folder)],
  };
}

const weather = {
  type: "function",
  function: { name: "weather", description: "of a city", parameters: { type: "object" } },
};
const called = {
  role: "assistant",
  content: null,
  tool_calls: [
    { id: "c1", type: "function", function: { name: "weather", arguments: '{"city":"Oslo"}' } },
  ],
};
const result = { role: "tool", tool_call_id: "c1", content: "1 degree" };
const asked = [
  { role: "system", content: "Be short." },
  { role: "user", content: "Oslo?" },
];
const answer = { role: "assistant", content: "Cold." };

/** The turn that all of these recorded. */
const expectedTurn = {
  prompt: asked,
  completion: [
    {
      role: "assistant",
      content: "",
      toolCalls: [{ name: "weather", arguments: '{"city":"Oslo"}' }],
    },
    { role: "tool", content: "1 degree", toolCallId: "c1" },
    answer,
  ],
  flaw: null,
};

it("langfuse", async () => {
  const times = { startTime: "2026-11-01T10:00:00.000Z", endTime: "2026-11-01T10:00:01.000Z" };
  const generation = {
    traceId: "t1",
    type: "GENERATION",
    parentObservationId: "root",
    level: "DEFAULT",
    ...times,
  };
  const trace = {
    id: "t1",
    timestamp: times.startTime,
    name: "agent",
    userId: "u1",
    sessionId: "s1",
    observations: [
      {
        id: "root",
        traceId: "t1",
        type: "AGENT",
        name: "agent",
        parentObservationId: null,
        ...times,
      },
      {
        ...generation,
        id: "g1",
        name: "openai",
        model: "gpt",
        input: { messages: asked, tools: [weather] },
        output: called,
      },
      {
        ...times,
        id: "x1",
        traceId: "t1",
        type: "TOOL",
        name: "weather",
        parentObservationId: "root",
        input: { city: "Oslo" },
        output: "1 degree",
      },
      {
        ...generation,
        id: "g2",
        name: "openai",
        model: "gpt",
        input: { messages: [...asked, called, result], tools: [weather] },
        output: answer,
        usageDetails: { input: 20, output: 2 },
      },
      {
        ...generation,
        id: "g3",
        name: "openai",
        model: "gpt",
        level: "ERROR",
        statusMessage: "429",
        input: asked,
        output: null,
      },
    ],
    scores: [
      {
        id: "a",
        name: "thumbs",
        value: 1,
        dataType: "NUMERIC",
        traceId: "t1",
        timestamp: times.endTime,
        comment: "good",
      },
      {
        id: "b",
        name: "stars",
        value: 4,
        dataType: "NUMERIC",
        traceId: "t1",
        timestamp: times.endTime,
      },
    ],
  };
  const { counts, spans, turns, feedback } = await imported(
    "langfuse",
    JSON.stringify([trace]),
    "traces.json",
  );
  expect(counts).toEqual({
    ...{ spans: 5, modelCalls: 3, withoutText: 0, feedback: 2, known: 0, rejected: 0 },
  });
  expect(turns).toMatchObject([
    { ...expectedTurn, user: "u1", conversationId: "s1", tools: [{ name: "weather" }] },
  ]);
  expect(spans.find(({ id }) => id === "g3")).toMatchObject({ error: "429" });
  expect(spans.find(({ id }) => id === "x1")!.tool).toEqual({
    name: "weather",
    arguments: '{"city":"Oslo"}',
    result: "1 degree",
  });
  const at = Date.parse(times.endTime);
  expect(feedback).toEqual([
    { traceId: "t1", comment: "good", score: 1, outcome: { thumbs: 1 }, at },
    { traceId: "t1", outcome: { stars: 4 }, at },
  ]);
});

it("langsmith, as its client sends runs of LangChain messages", async () => {
  const runs = new Map<string, Record<string, unknown>>();
  const save = (run: Record<string, unknown>): void =>
    void runs.set(String(run["id"]), {
      ...runs.get(String(run["id"])),
      ...JSON.parse(JSON.stringify(run)),
    });
  const client = new Client({ apiKey: "x", apiUrl: "http://127.0.0.1:1", autoBatchTracing: false });
  client.createRun = async (run) => save(run as unknown as Record<string, unknown>);
  client.updateRun = async (id, run) => save({ ...run, id });
  const metadata = { user_id: "u1", session_id: "s1", ls_model_name: "gpt" };
  const root = new RunTree({
    name: "agent",
    run_type: "chain",
    client,
    inputs: {},
    metadata,
    tracingEnabled: true,
  });
  await root.postRun();
  const messages = [new SystemMessage("Be short."), new HumanMessage("Oslo?")];
  const call = root.createChild({
    name: "ChatOpenAI",
    run_type: "llm",
    inputs: { messages: [messages.map((one) => one.toJSON())] },
    metadata,
  });
  await call.postRun();
  await call.end({ generations: [[{ text: "Cold.", message: new AIMessage("Cold.").toJSON() }]] });
  await call.patchRun();
  const tool = root.createChild({
    name: "weather",
    run_type: "tool",
    inputs: { input: '{"city":"Oslo"}' },
  });
  await tool.postRun();
  await tool.end({ output: "1 degree" });
  await tool.patchRun();
  await root.end({ output: "Cold." });
  await root.patchRun();
  const feedback = {
    id: "f",
    run_id: root.id,
    key: "user_score",
    score: 0,
    created_at: "2026-11-02T00:00:00",
  };
  const found = await imported("langsmith", [...runs.values(), feedback]);
  expect(found.counts).toMatchObject({ spans: 3, modelCalls: 1, feedback: 1, rejected: 0 });
  expect(found.turns).toMatchObject([
    { prompt: asked, completion: [answer], user: "u1", conversationId: "s1", traceId: root.id },
  ]);
  expect(found.spans.find(({ kind }) => kind === "tool")!.tool).toEqual({
    name: "weather",
    arguments: '{"city":"Oslo"}',
    result: "1 degree",
  });
  expect(found.feedback).toEqual([
    {
      traceId: root.id,
      score: 0,
      outcome: { user_score: 0 },
      at: Date.parse("2026-11-02T00:00:00Z"),
    },
  ]);
});

it("braintrust", async () => {
  const event = (id: string, type: string, more: object): object => ({
    id: `row-${id}`,
    span_id: id,
    root_span_id: "root",
    span_parents: id === "root" ? null : ["root"],
    created: "2026-11-01T10:00:00Z",
    span_attributes: { name: id, type },
    metrics: { start: 1_762_000_000, end: 1_762_000_001, prompt_tokens: 9, completion_tokens: 2 },
    ...more,
  });
  const { counts, turns, feedback } = await imported("braintrust", [
    event("root", "task", {
      input: "Oslo?",
      output: "Cold.",
      scores: { thumbs: 0 },
      expected: "1 degree.",
      metadata: { user_id: "u1", session_id: "s1" },
    }),
    event("a", "llm", {
      input: asked,
      output: [{ finish_reason: "tool_calls", message: called }],
      metadata: { model: "gpt", tools: [weather] },
    }),
    event("weather", "tool", { input: { city: "Oslo" }, output: "1 degree" }),
    event("b", "llm", {
      input: [...asked, called, result],
      output: [{ finish_reason: "stop", message: answer }],
      metadata: { model: "gpt", tools: [weather] },
    }),
  ]);
  expect(counts).toMatchObject({ spans: 4, modelCalls: 2, feedback: 2, rejected: 0 });
  expect(turns).toMatchObject([
    { ...expectedTurn, user: "u1", conversationId: "s1", isSubAgent: false },
  ]);
  const at = Date.parse("2026-11-01T10:00:00Z");
  expect(feedback).toEqual([
    { traceId: "root", score: 0, outcome: { thumbs: 0 }, at },
    { traceId: "root", correction: "1 degree.", at },
  ]);
});

it("helicone", async () => {
  const row = (
    id: string,
    messages: readonly object[],
    message: object,
    more: object = {},
  ): object => ({
    request_id: id,
    request_created_at: "2026-11-01 10:00:00.000",
    response_created_at: "2026-11-01 10:00:01.000",
    response_status: 200,
    request_model: "gpt",
    request_user_id: "u1",
    request_properties: { "Helicone-Session-Id": "s1" },
    request_body: { model: "gpt", messages, tools: [weather] },
    response_body: {
      id: `chatcmpl-${id}`,
      choices: [{ index: 0, finish_reason: "stop", message }],
    },
    ...more,
  });
  const { counts, turns, feedback } = await imported("helicone", [
    row("a", asked, called),
    row("b", [...asked, called, result], answer, {
      feedback_rating: true,
      feedback_created_at: "2026-11-02T00:00:00Z",
    }),
    row("c", asked, {}, { response_status: 500, response_body: {} }),
  ]);
  expect(counts).toMatchObject({ spans: 3, modelCalls: 3, feedback: 1, rejected: 0 });
  expect(turns).toMatchObject([{ ...expectedTurn, user: "u1", responseId: "chatcmpl-b" }]);
  expect(feedback).toEqual([
    { responseId: "chatcmpl-b", score: 1, at: Date.parse("2026-11-02T00:00:00Z") },
  ]);
});

it("openai's chat format, and logs of requests with responses", async () => {
  const { counts, turns } = await imported("openai", [
    { messages: [...asked, called, result, answer], tools: [weather], user: "u1" },
    {
      request: { model: "gpt", messages: asked },
      response: { id: "chatcmpl-1", created: 5, choices: [{ message: answer }] },
    },
  ]);
  expect(counts).toMatchObject({ spans: 2, rejected: 0 });
  expect(turns).toMatchObject([
    { ...expectedTurn, user: "u1" },
    { prompt: asked, completion: [answer], responseId: "chatcmpl-1", at: 5000 },
  ]);
});

it("lines that cannot be read are counted and kept aside with their place", async () => {
  const text = `{"messages": [${JSON.stringify(asked[1])}, ${JSON.stringify(answer)}]}\n{"mess\n\n[1]\n{"messages": []}\n`;
  const { counts, spans } = await imported("openai", text);
  expect([counts.rejected, spans.length]).toEqual([3, 1]);
  const store = join(folder, "store", "rejected.jsonl");
  const { readFileSync } = await import("node:fs");
  const rejected = readFileSync(store, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { at: string; reason: string });
  expect(rejected.map(({ at }) => at.replace(/.*:/u, ""))).toEqual(["2", "4", "5"]);
  expect(rejected.at(-1)!.reason).toBe("it has no messages");
});

it("the same file twice adds spans that are one", async () => {
  const rows = [{ messages: [...asked, answer] }];
  await imported("openai", rows);
  const { spans } = await imported("openai", rows);
  expect(spans.length).toBe(2);
  expect(new Set(spans.map(({ id }) => id)).size).toBe(1);
});
