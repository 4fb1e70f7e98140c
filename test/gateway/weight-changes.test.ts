/** Weights that are exchanged while an answer is drawn: who drew which token stays known. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import type { Sampler } from "../../src/core/policy.ts";
import { createGateway, createSqliteTraceStore } from "../../src/gateway/index.ts";
import { createByteRenderer } from "../../src/testing/index.ts";
import { AdminClient } from "./admin-client.ts";

const folder = mkdtempSync(join(tmpdir(), "weight-changes-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Draws "abcdef" and the end, with newer weights from "c" on and from "e" on. */
const sampler: Sampler = {
  contextLength: 1_000,
  sample: ({ onChunk, params }) => {
    const tokens = Int32Array.from([...Buffer.from("abcdef"), ...params.stopTokenIds.slice(0, 1)]);
    const logprobs = Float32Array.from(tokens, () => -1);
    onChunk?.({ index: 0, tokens, logprobs });
    const weightChanges = [
      { at: 2, weightVersion: 4 },
      { at: 4, weightVersion: 5 },
    ];
    return Promise.resolve([
      { tokens, logprobs, stopReason: "stop", weightVersion: 3, weightChanges },
    ]);
  },
};

it("are kept with the trace, in the store and over the wire, as far as the answer goes", async () => {
  const path = join(folder, "traces.sqlite");
  const store = createSqliteTraceStore(path);
  const target = { kind: "sampler" as const, sampler, renderer: createByteRenderer() };
  const gateway = createGateway({ target, model: "m", store });
  const { url } = await gateway.listen();
  const session = await gateway.sessions.open({ uid: "s", seed: 1, sampling: {} });
  for (const stop of [undefined, "d"]) {
    const response = await fetch(`${session.baseUrl}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${session.apiKey}` },
      body: JSON.stringify({ messages: [{ role: "user", content: "q" }], stop }),
    });
    expect(response.status).toBe(200);
    await response.text();
  }
  const all = [
    { at: 2, weightVersion: 4 },
    { at: 4, weightVersion: 5 },
  ];
  const expected = [all, all.slice(0, 1)];
  const here = await session.traces();
  expect(here.map(({ weightChanges }) => weightChanges)).toEqual(expected);
  const client = new AdminClient({ url, adminToken: gateway.adminToken });
  const wired = await client.traces("s");
  expect(wired.map(({ weightChanges }) => weightChanges)).toEqual(expected);
  await gateway.close();
  await store.close();
  const again = createSqliteTraceStore(path);
  const stored = await again.bySession("s");
  expect(stored.map(({ weightChanges }) => weightChanges)).toEqual(expected);
  await again.close();
});
