/** Langfuse's and Braintrust's own packages send to the receiver, and Braintrust's events are imported. */
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { importFile } from "../../../src/production/import/import-file.ts";
import { rebuildTurns } from "../../../src/production/curate/turns.ts";
import { emptyCounts } from "../../../src/production/receiver/keep-otlp.ts";
import {
  ProductionStore,
  readFeedback,
  readSpans,
} from "../../../src/production/store/production-store.ts";
import { startReceiver } from "../../production/collected.ts";
import { npmPackages } from "../npm-packages.ts";
import { root } from "../root.ts";

const packages = [
  "@langfuse/otel@5.11.1",
  "@langfuse/tracing@5.11.1",
  "@braintrust/otel@1.0.1",
  "braintrust@3.35.0",
  "@opentelemetry/api@1",
  "@opentelemetry/sdk-trace-node@2",
];
const folder = mkdtempSync(join(tmpdir(), "telemetry-"));
const events = join(folder, "events.jsonl");
let receiver: Awaited<ReturnType<typeof startReceiver>>;

beforeAll(async () => {
  npmPackages("telemetry", packages);
  receiver = await startReceiver();
  const program = join(root, ".cache", "integration", "telemetry", "record.mjs");
  cpSync(join(import.meta.dirname, "record.mjs"), program);
  await promisify(execFile)(process.execPath, [program, receiver.url, events]);
}, 300_000);

afterAll(async () => {
  await receiver[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

it("reads what Langfuse's SDK sends, with its user, session, tools and tokens", () => {
  const spans = receiver.spans().filter(({ source }) => source === "langfuse");
  expect(spans.map(({ kind }) => kind).toSorted()).toEqual(["agent", "model", "model", "tool"]);
  expect(spans.find(({ kind }) => kind === "tool")?.tool).toEqual({
    name: "look",
    arguments: '{"city":"Oslo"}',
    result: "cold",
  });
  const [turn, ...others] = rebuildTurns(spans).turns;
  expect(others).toEqual([]);
  expect(turn).toMatchObject({
    ...{ user: "ann", conversationId: "s1", model: "m", flaw: null, isSubAgent: false },
    prompt: [{ role: "user", content: "How warm is Oslo?" }],
    completion: [
      { role: "assistant", toolCalls: [{ name: "look" }] },
      { role: "tool", content: "cold" },
      { role: "assistant", content: "It is cold." },
    ],
  });
  expect(spans.find(({ model }) => model)?.model).toMatchObject({
    promptTokens: 7,
    completionTokens: 3,
  });
});

it("reads what Braintrust's span processor sends", () => {
  const [span, ...others] = receiver.spans().filter(({ source }) => source === "otel");
  expect(others).toEqual([]);
  expect(span?.model).toMatchObject({
    model: "m",
    messages: [{ role: "user", content: "Hello?" }],
    response: { role: "assistant", content: "Hi!" },
  });
});

it("imports the events of Braintrust's logger", async () => {
  const store = new ProductionStore(join(folder, "store"));
  await importFile(events, { store, format: "braintrust", counts: emptyCounts() });
  await store.close();
  const spans = [...readSpans(store.folder)];
  expect(spans.map(({ kind }) => kind).toSorted()).toEqual(["agent", "model"]);
  expect(rebuildTurns(spans).turns).toMatchObject([
    {
      conversationId: "s2",
      prompt: [{ role: "user", content: "How warm is Oslo?" }],
      completion: [{ role: "assistant", content: "It is cold." }],
    },
  ]);
  expect([...readFeedback(store.folder)]).toMatchObject([{ score: 1 }]);
});
