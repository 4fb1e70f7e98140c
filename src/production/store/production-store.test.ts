import { afterEach, beforeEach, expect, it } from "vitest";
import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { complete } from "../../core/completeness.ts";
import { ProductionStore, readFeedback, readSpans } from "./production-store.ts";
import type { Span } from "./span.ts";

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "production-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const span = (id: string): Span => ({
  traceId: "t",
  id,
  parentId: null,
  name: "é".repeat(20),
  kind: "other",
  startMs: 1,
  endMs: 2,
  source: "otel",
});

const ids = (): string[] => [...readSpans(folder)].map(({ id }) => id);

it("keeps what is added at the same time, in order", async () => {
  const store = new ProductionStore(join(folder, "new", "folder"));
  const all = Array.from({ length: 50 }, (_, i) => String(i));
  await Promise.all(all.map((id) => store.addSpans([span(id), span(`${id}b`)])));
  await store.close();
  expect([...readSpans(store.folder)].map(({ id }) => id)).toEqual(
    all.flatMap((id) => [id, `${id}b`]),
  );
});

it("begins a new part when one is full, and continues the last one", async () => {
  for (let run = 0; run < 2; run++) {
    const store = new ProductionStore(folder, { partBytes: 400 });
    await Promise.all(["a", "b", "c", "d"].map((id) => store.addSpans([span(`${run}${id}`)])));
    await store.close();
  }
  expect(ids()).toEqual(["0a", "0b", "0c", "0d", "1a", "1b", "1c", "1d"]);
  expect(readdirSync(folder).length).toBeGreaterThan(2);
});

it("reads and continues a journal that was cut anywhere", async () => {
  const whole = new ProductionStore(folder);
  await whole.addSpans([span("first"), span("second")]);
  await whole.close();
  const file = join(folder, "traces-000001.jsonl");
  const bytes = readFileSync(file);
  for (let cut = 0; cut <= bytes.length; cut++) {
    writeFileSync(file, bytes.subarray(0, cut));
    const before = ids();
    const store = new ProductionStore(folder);
    await store.addSpans([span("later")]);
    await store.close();
    expect(ids(), `cut at ${cut}`).toEqual([...before, "later"]);
  }
});

it("refuses what exceeds its limit, and keeps the rest", async () => {
  const store = new ProductionStore(folder, { maxBytes: 500 });
  await store.addSpans([span("a")]);
  await store.addFeedback([{ traceId: "t", thumb: "up", at: 1 }]);
  const much = Array.from({ length: 10 }, () => span("b"));
  await expect(store.addSpans(much)).rejects.toMatchObject({
    code: "STORE_FAILED",
    reason: "full",
  });
  await store.addSpans([span("c")]);
  await store.close();
  expect(ids()).toEqual(["a", "c"]);
  expect([...readFeedback(folder)]).toEqual([{ traceId: "t", thumb: "up", at: 1 }]);
  expect(new ProductionStore(folder).bytes).toBe(store.bytes);
});

it("keeps what is nested as deep as no message is, without its depths", async () => {
  let deep: unknown = "x";
  for (let i = 0; i < 100_000; i++) deep = [deep];
  const store = new ProductionStore(folder);
  await store.addSpans([{ ...span("a"), model: { tools: deep } } as unknown as Span]);
  await store.close();
  expect(JSON.stringify([...readSpans(folder)])).toContain("[nested too deeply]");
});

it("keeps words and code as they are, and no key", async () => {
  const content = "Give me a basic example: password: z.string(), hf_hub_download";
  const said = (text: string) => ({ role: "user" as const, content: text });
  const key = "lsv2_pt_0123456789abcdef0123456789abcdef_0123456789";
  const messages = [said(content), said(`${content} ${key}`)];
  const model = { model: "m", messages, tools: [], response: null, completeness: complete };
  const store = new ProductionStore(folder);
  await store.addSpans([{ ...span("a"), kind: "model", model }]);
  await store.close();
  const [kept] = readSpans(folder);
  expect(kept!.model!.messages).toEqual([said(content), said(`${content} [redacted]`)]);
});

it("adds all feedback of a call, or none", async () => {
  const store = new ProductionStore(folder);
  await expect(
    store.addFeedback([{ traceId: "t", thumb: "up" }, { traceId: "t" }]),
  ).rejects.toThrow("says nothing");
  await store.close();
  expect([...readFeedback(folder)]).toEqual([]);
});

it("keeps aside what could not be read, without its secrets", async () => {
  const store = new ProductionStore(folder);
  const text = `Bearer sk-abcdefgh12345678 ${"x".repeat(10_000)}`;
  await store.reject([{ at: "a.jsonl:3", reason: "no JSON", text }]);
  await store.close();
  const [kept] = readFileSync(join(folder, "rejected.jsonl"), "utf8").split("\n");
  expect(JSON.parse(kept!)).toMatchObject({ at: "a.jsonl:3", reason: "no JSON" });
  expect(kept).not.toContain("sk-");
  expect(kept!.length).toBeLessThan(5000);
});

it("passes over lines that are no records", () => {
  appendFileSync(
    join(folder, "feedback.jsonl"),
    '{"traceId":"a","at":1}\n\n{"tra\n{"traceId":"b","at":2}',
  );
  expect([...readFeedback(folder)].map(({ traceId }) => traceId)).toEqual(["a", "b"]);
});
