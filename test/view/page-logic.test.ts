/** What the page computes itself: alignment, colors of tokens, ranges of charts, replays, the map of tasks. */
import { expect, it } from "vitest";
import type { MapRow } from "../../src/view/api/tasks.ts";
import type { TokenView, ViewCall } from "../../src/view/api/conversation.ts";
import { align } from "../../src/view/app/align.ts";
import { paddedRange } from "../../src/view/app/chart-range.ts";
import { dateText, duration, rough } from "../../src/view/app/format.ts";
import { metricGroups } from "../../src/view/app/metric-groups.ts";
import { parseRoute } from "../../src/view/app/parse-route.ts";
import { cellAt, shownRows, stripOf } from "../../src/view/app/task-strip.ts";
import { vitalSigns } from "../../src/view/app/vital-signs.ts";
import { parting } from "../../src/view/episode/group-view.ts";
import { levelOf } from "../../src/view/levels.ts";
import { messageCount, messagesBefore, partOf } from "../../src/view/app/replay.ts";
import {
  largest,
  logRatios,
  quantitiesOf,
  quantityNamed,
} from "../../src/view/app/token-quantities.ts";

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
    overlay: "",
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

it("colors the text of a call only by what is known of it", () => {
  expect(quantityNamed(quantitiesOf(tokens), "advantage")?.values).toEqual([0.5, -1, 0]);
  expect(quantityNamed(quantitiesOf({ ...tokens, trained: null }), "entropy")).toBeNull();
  expect(quantityNamed(quantitiesOf(tokens), "no such thing")).toBeNull();
});

const row = (task: string, fields: Partial<MapRow>): MapRow => ({
  task,
  question: `Q ${task}`,
  cells: [],
  first: 0,
  last: 1,
  gain: 1,
  fate: "learned",
  learnedAt: 5,
  ...fields,
});

it("sorts and filters the map of tasks", () => {
  const rows = [
    row("b", { gain: 0.2, learnedAt: 9 }),
    row("a", { gain: 0.2, learnedAt: 3 }),
    row("c", { gain: null, fate: "never", learnedAt: null, last: null }),
  ];
  const names = (sort: string, fate = "", find = ""): string =>
    shownRows(rows, { sort, fate, find })
      .map(({ task }) => task)
      .join("");
  expect([names("gain"), names("learned at"), names("reward now"), names("name")]).toEqual([
    ...["abc", "abc", "abc", "abc"],
  ]);
  expect([names("gain", "never"), names("", "", "q B"), names("constructor")]).toEqual([
    ...["c", "b", "abc"],
  ]);
});

it("shows a row of the map as one gradient, with what was not sampled left clear", () => {
  const cells = [
    { column: 0, reward: 0, rollouts: 1, n: 1 },
    { column: 2, reward: 1, rollouts: 1, n: 2 },
  ];
  const map = { columns: [1, 3, 5, 7], low: 0, high: 1 };
  expect(stripOf(row("a", { cells, learnedAt: null }), map)).toBe(
    "linear-gradient(90deg, var(--seq0) 0% 25%, transparent 25% 50%, var(--seq8) 50% 75%, transparent 75% 100%), var(--not-sampled)",
  );
  expect(stripOf(row("a", { cells, learnedAt: 6 }), map)).toContain("calc(50% + 1px)");
  expect([0, 1, 3].map((column) => cellAt(row("a", { cells }), column)?.n)).toEqual([1, 1, 2]);
  expect(cellAt(row("a", {}), 0)).toBeNull();
});

it("gives rewards nine colors", () => {
  const range = { low: 0, high: 1 };
  expect([0, 0.1, 0.12, 0.5, 0.99, 1].map((one) => levelOf(one, range))).toEqual([
    ...[0, 0, 1, 4, 8, 8],
  ]);
  expect(levelOf(3, { low: 3, high: 3 })).toBe(0);
});

it("puts every metric into one group, the ones to look at first, those that never change last", () => {
  const varies = [1, null, 2];
  const series = {
    ...{ zeta: varies, "train/lr": varies, "val/reward/mean": varies, "reward/std": varies },
    ...{ "reward/mean": varies, "val/episode/turns": varies, "rollout/pass@1": [3, 3, null] },
  };
  const reward = ["reward/mean", "val/reward/mean", "reward/std", "rollout/pass@1"];
  expect(metricGroups(series)).toEqual([
    { title: "Reward and validation", names: reward },
    { title: "Rollouts", names: ["val/episode/turns"] },
    { title: "Updates", names: ["train/lr"] },
    { title: "Others", names: ["zeta"] },
  ]);
  expect(metricGroups(series, "mean")).toEqual([
    { title: "Reward and validation", names: reward.slice(0, 2) },
  ]);
});

it("finds the vital signs that a run reports, whatever its role is called", () => {
  const series = { "groups/solver/informative_fraction": [1], "train/entropy": [2], other: [3] };
  expect(vitalSigns({ steps: [1], series }).map(({ metric }) => metric)).toEqual([
    "groups/solver/informative_fraction",
    "train/entropy",
  ]);
});

it("says where two rollouts part, with whole words and numbers", () => {
  expect(parting(["It costs 152."], ["It costs 158."])).toEqual({
    call: 0,
    shared: "It costs ",
    own: "152.",
    other: "158.",
  });
  expect(parting(["a"], ["a", "more"])).toEqual({
    call: 1,
    shared: "",
    own: "∎",
    other: "more",
  });
  expect(parting(["a"], ["a"])).toBeNull();
});

it("writes durations, amounts and dates as people read them", () => {
  expect([9.26, 99, 600, 12_000, 7200].map(duration)).toEqual([
    ...["9.3 s", "99 s", "10 min", "3 h 20 min", "2 h"],
  ]);
  expect([12, 1234, 5_400_000, 2e9].map(rough)).toEqual(["12", "1.23 k", "5.4 M", "2 G"]);
  const now = new Date(2026, 10, 24, 15).getTime();
  expect(dateText(new Date(2026, 10, 24, 9, 5).getTime(), now)).toBe("today 09:05");
  expect(dateText(new Date(2026, 2, 1, 9, 5).getTime(), now)).toBe("1 Mar 09:05");
  expect(dateText(new Date(2025, 2, 1, 9, 5).getTime(), now)).toBe("1 Mar 2025 09:05");
});
