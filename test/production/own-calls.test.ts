/** What this package recorded itself: calls of a gateway, and episodes as the spans of its OpenTelemetry tracker. */
import { rmSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as api from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { afterEach, beforeEach, expect, it } from "vitest";
import { importOwn } from "../../src/launch/own-calls.ts";
import type { Trace } from "../../src/core/trace.ts";
import type { Episode } from "../../src/core/trajectory.ts";
import { createSqliteTraceStore } from "../../src/gateway/index.ts";
import { rebuildTurns } from "../../src/production/curate/turns.ts";
import { emptyCounts } from "../../src/production/receiver/keep-otlp.ts";
import { ProductionStore, readSpans } from "../../src/production/store/production-store.ts";
import { rolloutSpans } from "../../src/trackers/open-telemetry/call-spans.ts";
import { makeTrace } from "../make-step.ts";
import { startReceiver } from "./collected.ts";

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "own-calls-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const called = {
  role: "assistant",
  content: "",
  toolCalls: [{ id: "c", name: "look", arguments: "{}" }],
} as const;
const asked = [{ role: "user", content: "a" }] as const;
const result = { role: "tool", content: "r", toolCallId: "c" } as const;
const traces: readonly Trace[] = [
  makeTrace({
    id: "1",
    responseId: "r1",
    messages: asked,
    response: called,
    startedAt: 1,
    finishedAt: 2,
  }),
  makeTrace({
    id: "2",
    responseId: "r2",
    sequence: 1,
    messages: [...asked, called, result],
    response: { role: "assistant", content: "b" },
    weightVersion: 7,
    startedAt: 3,
    finishedAt: 4,
  }),
];

const turnsOf = (store: string) => rebuildTurns([...readSpans(store)]).turns;

it("a gateway's store", async () => {
  const file = join(folder, "traces.sqlite");
  const sqlite = createSqliteTraceStore(file);
  await sqlite.saveSession({ uid: "s", keyDigest: new Uint8Array(32), createdAt: 1 } as never);
  await sqlite.append(traces);
  await sqlite.close();
  await using store = new ProductionStore(join(folder, "store"));
  const counts = emptyCounts();
  await importOwn(file, { store, format: "gateway", counts });
  expect(counts).toMatchObject({ spans: 2, modelCalls: 2, withoutText: 0 });
  expect(turnsOf(store.folder)).toMatchObject([
    {
      conversationId: "s",
      responseId: "r2",
      weightVersion: 7,
      prompt: asked,
      completion: [called, result, { content: "b" }],
    },
  ]);
  const missing = importOwn(join(folder, "none.sqlite"), { store, format: "gateway", counts });
  await expect(missing).rejects.toThrow("cannot be read");
});

it("episodes that the OpenTelemetry tracker sent", async () => {
  // The SDK takes small numbers as times since the process began.
  const at = 1_700_000_000_000;
  const episode = {
    id: "e",
    task: { id: "t", instruction: "a", metadata: {} },
    rolloutIndex: 0,
    trajectories: [
      {
        uid: "u",
        name: "agent",
        steps: traces.map((trace) => ({
          trace: { ...trace, startedAt: at + trace.startedAt, finishedAt: at + trace.finishedAt },
          done: false,
        })),
        reward: 1,
        signals: {},
        metadata: {},
      },
    ],
    output: "b",
    isCorrect: true,
    reward: 1,
    terminationReason: "completed",
    metrics: {},
    metadata: {},
    attempts: 1,
  } as Episode;
  await using receiver = await startReceiver();
  const exporter = new OTLPTraceExporter({ url: `${receiver.url}/v1/traces` });
  const provider = new TracerProvider({
    spanProcessors: [new SimpleSpanProcessor({ exporter })],
  });
  const tracer = provider.getTracer("agent-trainer");
  const parent = api.context.active();
  rolloutSpans({ api, tracer, parent, content: true }, episode, at + 5);
  await provider.forceFlush();
  await provider.shutdown();
  // The episode, two calls, and the tool between them.
  expect(receiver.counts).toMatchObject({ spans: 4, modelCalls: 2, rejected: 0 });
  expect(turnsOf(receiver.folder)).toMatchObject([
    {
      conversationId: "s",
      responseId: "r2",
      weightVersion: 7,
      prompt: asked,
      completion: [called, result, { content: "b" }],
      flaw: null,
    },
  ]);
});
