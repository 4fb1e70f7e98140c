import { describe, expect, it } from "vitest";
import { isGarbled, isRepetitive } from "./response-quality.ts";

const prose =
  "The shop sells lamps, chairs and mugs. A lamp costs forty, a chair costs ninety and a mug costs nine. Three lamps are one hundred and twenty together, and if you add two chairs the bill comes to three hundred. Most people who buy a chair also look at the desks by the window, which are on sale until the end of the month, but nobody has to.";

const code = `function add(a, b) {\n  return a + b;\n}\n${"=".repeat(80)}\nconst x = [1, 2, 3].map((n) => n * 2);\n`;

describe("isGarbled", () => {
  it.each([
    ["replacement characters", "The pr\uFFFDce \uFFFD\uFFFD is \uFFFD"],
    ["controls", "a\u0000b\u0001c\u0002d"],
    ["scripts mixed within words", "Theпр価격isลูгдеnowに하다кот"],
    ["private use", "\uE000\uE001 ok \uE002"],
  ])("finds %s", (_name, text) => expect(isGarbled(text)).toBe(true));

  it.each([
    ["prose", prose],
    ["code", code],
    ["nothing", ""],
    ["Japanese with Latin names", "新しいiPhoneのカメラはとても良いです。日本語の文章です。"],
    ["Russian with an abbreviation", "Сервер отвечает по HTTP и возвращает JSON."],
    ["Chinese", "这家商店卖灯、椅子和杯子。"],
    ["an accent and emoji", "Café déjà vu 👩‍👩‍👧 naïve"],
    ["mathematics", "Let α ∈ ℝ and β = 2α; then f(α) = sin(αβ) ≤ 1."],
  ])("does not find %s", (_name, text) => expect(isGarbled(text)).toBe(false));
});

describe("isRepetitive", () => {
  it.each([
    ["a word in a loop", `The answer is ${"very ".repeat(30)}`],
    ["a sentence in a loop", `So. ${"I will look up the price now. ".repeat(6)}`],
    [
      "sentences that take turns",
      `${"one two three four five. six seven eight nine. ".repeat(12)}end`,
    ],
  ])("finds %s", (_name, text) => expect(isRepetitive(text)).toBe(true));

  it.each([
    ["prose", prose],
    ["code with a ruler", code],
    ["a number", "1111111111"],
    ["a table of dots", `Total${".".repeat(120)}12`],
    ["nothing", ""],
    ["a list", Array.from({ length: 40 }, (_, i) => `${i}. costs ${i * 7} coins`).join("\n")],
  ])("does not find %s", (_name, text) => expect(isRepetitive(text)).toBe(false));
});
