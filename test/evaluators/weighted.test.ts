/** Several scores as one, and penalties. */
import { describe, expect, it } from "vitest";
import type { Evaluator } from "../../src/core/agent.ts";
import {
  exactMatch,
  f1,
  formatPenalty,
  lengthPenalty,
  weighted,
} from "../../src/evaluators/index.ts";
import { makeStep } from "../make-step.ts";
import { episodeOf, taskOf } from "./episode-of.ts";

const task = taskOf({ answer: "Denver Broncos" });

describe("weighted", () => {
  it("sums the weighted parts and keeps each as a signal", async () => {
    const evaluate = weighted({
      correct: [0.8, exactMatch()],
      overlap: [0.2, f1()],
    });
    const result = await evaluate(task, episodeOf("Broncos"));
    expect(result.reward).toBeCloseTo(0.2 * (2 / 3), 12);
    expect(result.isCorrect).toBe(false);
    expect(result.signals).toEqual([
      { name: "correct", value: 0 },
      { name: "overlap", value: 2 / 3 },
      { name: "overlap/f1", value: 2 / 3 },
      { name: "overlap/exact", value: 0 },
    ]);
    expect(result.metadata).toEqual({ correct: { found: "Broncos" } });
  });

  it("takes every form of an evaluator", async () => {
    const evaluate = weighted({
      flag: [1, () => true],
      size: [0.5, async () => 0.5],
      pair: [1, () => [2, true] as const],
      object: [1, { evaluate: () => ({ reward: -1, isCorrect: null }) }],
    });
    const result = await evaluate(task, episodeOf(""));
    expect(result).toMatchObject({ reward: 2.25, isCorrect: true });
  });

  it.each<[string, Record<string, Evaluator>, string | undefined, boolean | null]>([
    ["the part named correct", { correct: () => true, other: () => false }, undefined, true],
    ["the part that is named", { correct: () => true, other: () => false }, "other", false],
    ["all that decide", { a: () => true, b: () => false, c: () => 0.5 }, undefined, false],
    ["none, where none decides", { a: () => 0.5, b: () => 0.7 }, undefined, null],
    ["a number, of a single decider", { correct: () => 1, b: () => 0.7 }, undefined, true],
  ])("is correct by %s", async (_name, evaluators, correct, expected) => {
    const parts = Object.fromEntries(
      Object.entries(evaluators).map(([name, one]) => [name, [1, one] as const]),
    );
    const evaluate = weighted(parts, correct === undefined ? {} : { correct });
    expect((await evaluate(task, episodeOf(""))).isCorrect).toBe(expected);
  });

  it("nests", async () => {
    const inner = weighted({ a: [1, () => 0.5] });
    const { signals } = await weighted({ outer: [2, inner] })(task, episodeOf(""));
    expect(signals).toEqual([
      { name: "outer", value: 0.5 },
      { name: "outer/a", value: 0.5 },
    ]);
  });

  it("rejects when a part throws or returns no finite score", async () => {
    const nothing = weighted({ bad: [1, () => Number.NaN] });
    await expect(nothing(task, episodeOf(""))).rejects.toThrow(/part "bad" returned NaN/u);
    const absent = weighted({ bad: [1, (() => undefined) as unknown as Evaluator] });
    await expect(absent(task, episodeOf(""))).rejects.toThrow(/part "bad" returned undefined/u);
    const thrown = weighted({ bad: [1, () => Promise.reject(new Error("no"))] });
    await expect(thrown(task, episodeOf(""))).rejects.toThrow("no");
  });

  it("refuses no parts, weights that are not finite, and an unknown decider", () => {
    expect(() => weighted({})).toThrow(/no parts/u);
    expect(() => weighted({ a: [Number.NaN, () => 1] })).toThrow(/"a" is NaN/u);
    expect(() => weighted({ a: [1, () => 1] }, { correct: "b" })).toThrow(/no part "b"/u);
  });
});

describe("lengthPenalty", () => {
  // DAPO, equation 13, with L_max = 2000 and L_cache = 500.
  it.each([
    [1000, 0],
    [1500, 0],
    [1750, -0.5],
    [2000, -1],
    [9000, -1],
  ])("of %d tokens is %d", (tokens, reward) => {
    const half = (length: number) => makeStep({ responseIds: new Int32Array(length) });
    const episode = episodeOf("", [half(400), half(tokens - 400)]);
    const result = lengthPenalty({ from: 1500, to: 2000 })(task, episode);
    expect(result).toEqual({
      reward,
      isCorrect: null,
      signals: [{ name: "length", value: tokens }],
    });
  });

  it("counts words and characters of the text", () => {
    const episode = episodeOf(" one two\n three ");
    const words = lengthPenalty({ from: 0, to: 6, unit: "words" })(task, episode);
    expect(words.reward).toBe(-0.5);
    expect(lengthPenalty({ from: 16, to: 16, unit: "chars" })(task, episode).reward).toBe(0);
    expect(lengthPenalty({ from: 15, to: 15, unit: "chars" })(task, episode).reward).toBe(-1);
  });

  it("refuses bounds in the wrong order", () => {
    expect(() => lengthPenalty({ from: 2, to: 1 })).toThrow(/from=2 and to=1/u);
  });
});

describe("formatPenalty", () => {
  it.each([
    ["<think>a</think><answer>b</answer>", 0],
    ["<think>a</think>b", -0.5],
    ["<answer>b</answer><think>a</think>", -0.5],
    ["<think>a<think>b</think><answer>c</answer>", -0.5],
    ["</think><think><answer></answer>", -0.5],
    ["plain", -1],
  ])("of the tags in %j is %d", (text, reward) => {
    const evaluate = formatPenalty({ tags: ["think", "answer"] });
    expect(evaluate(task, episodeOf(text))).toEqual({ reward, isCorrect: null });
  });

  it.each([
    [["think"], "12", "3 times 4", 0],
    [["think", "answer"], "<answer>12</answer>", "3 times 4", 0],
    [["think", "answer"], "12", "3 times 4", -0.5],
    [["answer", "think"], "<answer>12</answer>", "3 times 4", -0.5],
    [["answer"], "12", "<answer>12</answer>", -1],
    [["reasoning"], "12", "3 times 4", 0],
    [["think"], "<think>3 times 4</think>12", "3 times 4", 0],
    [["think"], "12", "", -1],
    [["think"], "12", undefined, -1],
    [["think"], "3 times 4</think>12", undefined, 0],
    [["thinking"], "3 times 4\n</thinking>\n12", undefined, 0],
    [["think"], "3 times 4</think></think>12", undefined, -1],
    [["answer"], "12</answer>", undefined, -1],
    [["think", "answer"], "<answer>12</answer></think>", undefined, -0.5],
  ])("of the tags %j in %j with the reasoning %j is %d", (tags, content, reasoning, reward) => {
    const response = { role: "assistant" as const, content };
    const step = makeStep({
      response: reasoning === undefined ? response : { ...response, reasoning },
    });
    for (const output of [content, undefined])
      expect(formatPenalty({ tags })(task, episodeOf(output, [step])).reward).toBe(reward);
  });

  it("holds a pattern against the text, and against it with the reasoning", () => {
    const step = makeStep({
      response: { role: "assistant", content: "12", reasoning: "3 times 4" },
    });
    const score = (pattern: string) =>
      formatPenalty({ pattern })(task, episodeOf(undefined, [step])).reward;
    expect(score("\\d+")).toBe(0);
    expect(score("<think>.+</think>\\d+")).toBe(0);
    expect(score("<think>\\d+</think>.*")).toBe(-1);
    const own = formatPenalty({ tags: ["think"], text: () => "12" });
    expect(own(task, episodeOf(undefined, [step])).reward).toBe(-1);
  });

  it("holds a pattern against the whole text, across lines", () => {
    const evaluate = formatPenalty({ pattern: /<a>.*<\/a>/ });
    expect(evaluate(task, episodeOf("<a>1\n2</a>")).reward).toBe(0);
    expect(evaluate(task, episodeOf("x<a>1</a>")).reward).toBe(-1);
  });

  it("refuses to check nothing", () => {
    expect(() => formatPenalty({})).toThrow(/neither tags nor a pattern/u);
  });
});
