/** What the page computes itself: alignment, colors of tokens, ranges of charts, replays. */
import { expect, it } from "vitest";
import type { TokenView, ViewCall } from "../../src/view/api.ts";
import { align } from "../../src/view/app/align.ts";
import { paddedRange } from "../../src/view/app/chart-range.ts";
import { parseRoute } from "../../src/view/app/parse-route.ts";
import { messageCount, messagesBefore, partOf } from "../../src/view/app/replay.ts";
import { largest, logRatios, quantitiesOf } from "../../src/view/app/token-quantities.ts";

const call = (texts: readonly string[] | null, text = texts?.join("") ?? "") => ({
  text,
  ids: (texts ?? []).map((_, i) => i),
  texts,
});

it("reads the address, and knows no page for a name after the list of runs", () => {
  expect(parseRoute("#/episode/2/1%2Fa%2F0?tokens=3&step=4")).toEqual({
    page: "episode",
    run: 2,
    id: "1/a/0",
    tokens: 3,
    http: null,
    filter: { step: "4" },
  });
  expect(["", "#/", "#/runs", "#/runs/run-a"].map((hash) => parseRoute(hash).page)).toEqual([
    ...["runs", "runs", "runs", "unknown"],
  ]);
});

it("aligns tokens, and names the first that differs", () => {
  const { parts, unit, first } = align(call(["a", "b", "c", "d"]), call(["a", "x", "c", "d"]));
  expect({ unit, first }).toEqual({ unit: "tokens", first: 1 });
  expect(parts).toEqual([
    { side: "both", text: "a" },
    { side: "left", text: "b" },
    { side: "right", text: "x" },
    { side: "both", text: "cd" },
  ]);
  expect(align(call(["a"]), call(["a"]))).toMatchObject({ first: null, isCoarse: false });
  expect(align(call(["a"]), call(["a", "b"])).first).toBe(1);
});

it("aligns words where there are no tokens, and gives up on long texts without an end", () => {
  expect(align(call(null, "the red lamp"), call(null, "the old red lamp"))).toMatchObject({
    unit: "words",
    first: 2,
    parts: [
      { side: "both", text: "the " },
      { side: "right", text: "old " },
      { side: "both", text: "red lamp" },
    ],
  });
  const many = (word: string): string => `same ${`${word}1 ${word}2 `.repeat(20_000)}end`;
  const { isCoarse, parts } = align(call(null, many("a")), call(null, many("b")));
  expect(isCoarse).toBe(true);
  expect(parts.map(({ side }) => side)).toEqual(["both", "left", "right", "both"]);
  expect(parts[0]!.text).toBe("same ");
});

const tokens: TokenView = {
  promptIds: [],
  responseIds: [5, 6, 7],
  logprobs: [-0.1, -2, -1],
  temperedLogprobs: [-0.2, -3, -1.5],
  logprobKind: "raw",
  promptTexts: null,
  responseTexts: null,
  untrained: [],
  trained: {
    step: 1,
    temperature: 1,
    mask: [1, 1, 0],
    logprobs: [-0.1, -1.5, -9],
    reference: null,
    entropy: [0.01, 1.5, 3],
    advantages: [0.5, -1, 0],
    weights: null,
  },
  notRecorded: [],
};

it("compares training with the log-probabilities of the temperature that is trained", () => {
  expect(logRatios(tokens)).toEqual([0, 0.5, 0]);
  const cooler = { ...tokens, trained: { ...tokens.trained!, temperature: 0.7 } };
  expect(logRatios(cooler)!.map((value) => Number(value.toFixed(6)))).toEqual([0.1, 1.5, 0]);
  expect(logRatios({ ...cooler, temperedLogprobs: null })).toBeNull();
  expect(logRatios({ ...tokens, trained: null })).toBeNull();
});

it("colors tokens by what is known of them", () => {
  const heats = Object.fromEntries(
    quantitiesOf(tokens).map(({ name, values, heat }) => [name, values.map(heat)]),
  );
  expect(heats).toEqual({
    "logprob at sampling": ["heat0", "heat2", "heat1"],
    "logprob at training": ["heat0", "heat1", "heat5"],
    "importance ratio": ["heat0", "heat4", "heat0"],
    entropy: ["heat0", "heat4", "heat5"],
    advantage: ["more2", "less3", "heat0"],
    mask: ["heat0", "heat0", "heat4"],
  });
  expect(quantitiesOf({ ...tokens, trained: null })).toHaveLength(1);
  expect(largest([0.1, -2, 1], Math.abs)).toBe(1);
});

it("gives a chart of zeros labels that differ", () => {
  expect(paddedRange(0, 0)).toEqual([-1, 1]);
  expect(paddedRange(2, 2)).toEqual([1.8, 2.2]);
  expect(paddedRange(0, 1)).toEqual([-0.08, 1.08]);
  expect(paddedRange(null, null)).toEqual([-0.08, 1.08]);
});

it("replays an episode message by message, the response after what it responds to", () => {
  const said = (k: number, added: number): ViewCall =>
    ({ k, newMessages: Array.from({ length: added }, () => ({})) }) as unknown as ViewCall;
  const view = { trajectories: [{ calls: [said(0, 2), said(1, 1)] }] } as never;
  expect(messageCount(view)).toBe(5);
  const before = messagesBefore(view);
  const at = (k: number, added: number, shown: number) =>
    partOf(said(k, added), before.get(k)!, shown);
  expect([0, 1, 2, 3].map((shown) => at(0, 2, shown))).toEqual([
    null,
    { messages: 1, isWhole: false },
    { messages: 2, isWhole: false },
    { messages: 2, isWhole: true },
  ]);
  expect(at(1, 1, 3)).toBeNull();
  expect(at(1, 1, 5)).toEqual({ messages: 1, isWhole: true });
});
