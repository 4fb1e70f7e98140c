/** How large the file gets. Everything is counted: ids, logprobs, messages, indexes, empty space in pages. */
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import type { Trace } from "../../../src/core/trace.ts";
import { createSqliteTraceStore } from "../../../src/gateway/index.ts";
import { packIds } from "../../../src/gateway/store/sqlite/id-codec.ts";
import { createRandom } from "../../../src/util/random.ts";
import {
  sampleIds,
  sampleLogprobs,
  sampleText,
  makeConversation,
  makeTrace,
} from "./make-trace.ts";

const folder = mkdtempSync(join(tmpdir(), "bytes-"));
afterAll(() => rmSync(folder, { recursive: true }));

async function sizeOf(name: string, traces: readonly Trace[]): Promise<number> {
  const path = join(folder, name);
  const empty = createSqliteTraceStore(path);
  await empty.close();
  const before = statSync(path).size;
  const store = createSqliteTraceStore(path);
  for (const trace of traces) await store.append([trace]);
  await store.close();
  return statSync(path).size - before;
}

function singleCall(session: number, prompt: number, response: number): Trace {
  const seed = session * 10;
  return makeTrace({
    sessionUid: `s${session}`,
    messages: [
      { role: "system", content: sampleText(prompt / 4, seed + 4) },
      { role: "user", content: sampleText((prompt * 3) / 4, seed) },
    ],
    response: { role: "assistant", content: sampleText(response, seed + 1) },
    promptIds: sampleIds(prompt, seed + 2),
    responseIds: sampleIds(response, seed + 3),
    logprobs: sampleLogprobs(response, seed),
  });
}

/** Ids and logprobs alone. */
function tokenBytes(traces: readonly Trace[]): number {
  return traces.reduce(
    (sum, { promptIds, responseIds }) =>
      sum + packIds(promptIds).length + packIds(responseIds).length + 4 * responseIds.length,
    0,
  );
}

function report(name: string, bytes: number, tokens: number, alone: number): void {
  console.info(
    `${name}: ${(bytes / tokens).toFixed(2)} bytes a token in all, ${(alone / tokens).toFixed(2)} of ids and logprobs`,
  );
}

it("takes at most 6 bytes a token for single calls of 512+128", async () => {
  const traces = Array.from({ length: 300 }, (_, i) => singleCall(i, 512, 128));
  const bytes = await sizeOf("single.sqlite", traces);
  const tokens = 300 * 640;
  report("512+128", bytes, tokens, tokenBytes(traces));
  expect(bytes / tokens).toBeLessThanOrEqual(6);
});

function uniformCalls(): Trace[] {
  const random = createRandom(3);
  return Array.from({ length: 300 }, (_, i) => ({
    ...singleCall(i, 512, 128),
    promptIds: Int32Array.from({ length: 512 }, () => Math.floor(random() * 151_936)),
    responseIds: Int32Array.from({ length: 128 }, () => Math.floor(random() * 151_936)),
  }));
}

it("takes at most 6 bytes a token also where every id is as likely", async () => {
  const traces = uniformCalls();
  const bytes = await sizeOf("uniform-text.sqlite", traces);
  report("512+128, uniform ids", bytes, 300 * 640, tokenBytes(traces));
  expect(bytes / (300 * 640)).toBeLessThanOrEqual(6);
});

it("takes at most 4 bytes a token for ids and logprobs, even where every id is as likely", async () => {
  const traces = uniformCalls().map((trace) => ({
    ...trace,
    messages: [],
    response: { role: "assistant" as const, content: "" },
  }));
  const bytes = await sizeOf("uniform.sqlite", traces);
  report("512+128, uniform ids, no text", bytes, 300 * 640, tokenBytes(traces));
  // The rest is what any call has: ids, times, sampling, indexes.
  expect(tokenBytes(traces) / (300 * 640)).toBeLessThanOrEqual(4);
  expect(bytes / (300 * 640)).toBeLessThanOrEqual(4);
});

it("takes at most 4 bytes a token for long prompts", async () => {
  const traces = Array.from({ length: 20 }, (_, i) => singleCall(i, 16_384, 128));
  const bytes = await sizeOf("long.sqlite", traces);
  const tokens = 20 * (16_384 + 128);
  report("16384+128", bytes, tokens, tokenBytes(traces));
  expect(bytes / tokens).toBeLessThanOrEqual(4);
});

it("stores only what is new in each of 20 turns", async () => {
  const traces = Array.from({ length: 20 }, (_, i) => makeConversation(`s${i}`, 20)).flat();
  const bytes = await sizeOf("turns.sqlite", traces);
  const fresh = traces.length * 200;
  const captured = traces.reduce((sum, each) => sum + each.promptIds.length + 100, 0);
  const perFresh = (bytes / fresh).toFixed(2);
  const perCaptured = (bytes / captured).toFixed(2);
  console.info(`20 turns: ${perFresh} bytes a new token, ${perCaptured} a captured one`);
  expect(bytes / fresh).toBeLessThanOrEqual(8);
  expect(bytes / captured).toBeLessThanOrEqual(1);
});

it("stores the prompt of 8 choices once", async () => {
  const call = singleCall(1, 4096, 1);
  const path = join(folder, "choices.sqlite");
  const store = createSqliteTraceStore(path);
  const choices = Array.from({ length: 8 }, (_, choice) =>
    makeTrace({ ...call, id: `choice-${choice}`, choice }),
  );
  await store.append(choices);
  await store.close();
  const alone = await sizeOf("choice.sqlite", [call]);
  expect(statSync(path).size).toBeLessThan(alone + 16 * 1024);
});
