import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { ProductionStore, readFeedback } from "../../production/store/production-store.ts";
import { ServedCalls } from "./served-calls.ts";

let folder: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "served-"));
  await using store = new ProductionStore(folder);
  await store.addSpans([
    {
      traceId: "t",
      id: "c",
      parentId: null,
      name: "serve m",
      kind: "model",
      startMs: 1,
      endMs: 2,
      model: {
        model: "m@1",
        messages: [],
        tools: [],
        response: null,
        completeness: { state: "complete" },
        responseId: "r",
      },
      source: "serve",
    },
  ]);
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

const up = { responseId: "r", thumb: "up" as const, user: "u" };

it("takes feedback again that could not be kept", async () => {
  await using calls = new ServedCalls(folder);
  vi.spyOn(ProductionStore.prototype, "addFeedback").mockRejectedValueOnce(new Error("disk full"));
  await expect(calls.addFeedback([up])).rejects.toThrow("disk full");
  expect(calls.versions()).toEqual(new Map());
  expect(await calls.addFeedback([up])).toMatchObject({ accepted: 1, duplicates: 0 });
  expect(Array.from(readFeedback(folder))).toMatchObject([{ responseId: "r" }]);
});

it("keeps what is sent several times at once only once", async () => {
  await using calls = new ServedCalls(folder);
  const replies = await Promise.all([up, up, up].map((one) => calls.addFeedback([one, one])));
  expect(replies.map(({ accepted }) => accepted)).toEqual([1, 0, 0]);
  expect(Array.from(readFeedback(folder))).toHaveLength(1);
});

it("counts the last score of a person, which words without one leave", async () => {
  await using calls = new ServedCalls(folder);
  await calls.addFeedback([up]);
  await calls.addFeedback([{ responseId: "r", user: "u", correction: "96" }]);
  expect(calls.versions()).toEqual(new Map([["m@1", { n: 1, sum: 1 }]]));
  await calls.addFeedback([{ ...up, thumb: "down" }]);
  expect(calls.versions()).toEqual(new Map([["m@1", { n: 1, sum: 0 }]]));
});
