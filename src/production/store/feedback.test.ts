import { expect, it } from "vitest";
import { scoreOf, toFeedback } from "./feedback.ts";

it("takes what programs send", () => {
  expect(toFeedback({ traceId: "t", thumb: "down", user: "u" }, 5)).toEqual({
    traceId: "t",
    thumb: "down",
    user: "u",
    at: 5,
  });
  const at = "2026-11-24T10:00:00+01:00";
  expect(toFeedback({ responseId: "r", outcome: { refunded: true }, at }).at).toBe(Date.parse(at));
});

it("keeps no secrets", () => {
  const correction = "The key is sk-abcdefgh12345678.";
  expect(toFeedback({ traceId: "t", correction }).correction).toBe("The key is [redacted].");
});

it.each([
  [{ thumb: "up" }, "names nothing"],
  [{ traceId: "t" }, "says nothing"],
  [{ traceId: "t", score: 1.5 }, "score"],
  [{ traceId: "t", thumb: "sideways" }, "thumb"],
  [{ traceId: "t", thumb: "up", rating: 5 }, "rating"],
  [{ traceId: "t", thumb: "up", at: "yesterday" }, "at"],
  [{ traceId: "t", correction: "x".repeat(2 ** 20) }, "is the limit"],
  ["up", "expected object"],
])("refuses %j", (given, reason) => {
  expect(() => toFeedback(given)).toThrow(reason);
});

it("refuses what is nested too deeply", () => {
  let deep: unknown = 1;
  for (let i = 0; i < 100_000; i++) deep = [deep];
  expect(() => toFeedback({ traceId: "t", outcome: { deep } })).toThrow("nested too deeply");
});

it("has one score", () => {
  const of = (given: object, outcome?: string) =>
    scoreOf(toFeedback({ traceId: "t", ...given }), { outcome });
  expect([of({ thumb: "up" }), of({ thumb: "down" }), of({ score: 0.3 })]).toEqual([1, 0, 0.3]);
  expect([of({ correction: "x" }), of({ outcome: { won: true } })]).toEqual([null, null]);
  expect([of({ outcome: { won: false } }, "won"), of({ outcome: { won: 0.5 } }, "won")]).toEqual([
    0, 0.5,
  ]);
  expect(of({ outcome: { won: 7 } }, "won")).toBeNull();
});
