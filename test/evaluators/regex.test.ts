/** Patterns, with an engine whose time is linear in the text. */
import { describe, expect, it } from "vitest";
import { regex } from "../../src/evaluators/index.ts";
import { episodeOf, taskOf } from "./episode-of.ts";

describe("regex", () => {
  it.each([
    ["part", "a 12 b", /\d+/, {}, 1],
    ["none", "a b", /\d+/, {}, 0],
    ["flags", "HELLO", /hello/i, {}, 1],
    ["lines", "x\nend", /^end$/m, {}, 1],
    ["whole", "12", /\d+/, { match: "whole" }, 1],
    ["not whole", "12 b", /\d+/, { match: "whole" }, 0],
    ["group", "answer: 12", /answer: (\d+)/, { group: 1 }, 1],
    ["last group", "answer: 11, answer: 12", /answer: (\d+)/, { group: 1 }, 1],
    ["other group", "answer: 13", /answer: (\d+)/, { group: 1 }, 0],
    ["source", "abc", "b", {}, 1],
    ["Unicode", "größe", /\p{L}{5}/u, { match: "whole" }, 1],
  ] as const)("%s", (_name, text, pattern, options, reward) => {
    const evaluate = regex({ pattern, ...options });
    expect(evaluate(taskOf({ answer: "12" }), episodeOf(text)).reward).toBe(reward);
  });

  it("takes a pattern per task", () => {
    const evaluate = regex<{ code: string }>({ pattern: (task) => `^${task.metadata.code}$` });
    expect(evaluate(taskOf({ code: "a+" }), episodeOf("aaa")).reward).toBe(1);
  });

  it.each([/a(?=b)/, /(a)\1/, /(?<!a)b/])("refuses %s, which is not linear", (pattern) => {
    expect(() => regex({ pattern })).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
  });

  it("takes linear time where JavaScript's engine takes exponential time", () => {
    const evaluate = regex({ pattern: /^(a+)+$/ });
    expect(evaluate(taskOf({}), episodeOf(`${"a".repeat(90_000)}!`)).reward).toBe(0);
  });

  it.each([
    ["reads to the end after each match", "a".repeat(90_000), /(a.*b)|a/],
    ["reads to the end of long lines", "a ".repeat(45_000), /(a[^c]*c)|(a)/],
  ])("with a group it stops where the pattern %s", (_name, text, pattern) => {
    const evaluate = regex({ pattern, group: 1 });
    const scored = evaluate(taskOf({ answer: "a" }), episodeOf(text));
    // Far more work than a test may take, if it were done.
    expect(scored).toMatchObject({
      reward: 0,
      metadata: { reason: "the pattern reads far beyond each of its matches in this text" },
    });
  });

  it("with a group it reads all of many matches", () => {
    const text = Array.from({ length: 15_000 }, (_, i) => `[${i}]`).join(" and ");
    const evaluate = regex({ pattern: /\[(\d+)\]/, group: 1 });
    expect(evaluate(taskOf({ answer: "14999" }), episodeOf(text.slice(-90_000))).reward).toBe(1);
  });
});
