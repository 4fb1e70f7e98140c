import { expect, it } from "vitest";
import { sideBySide } from "./side-by-side.ts";

const texts = [
  { title: "before", text: "I think it is 100." },
  { title: "after", text: '→ get_price({"item":"coat"})\n← 90\n180' },
] as const;
const mark = (title: string): string => `*${title}*`;

it("stacks both below 100 columns, and where the width is not known", () => {
  const stacked =
    '*before*\nI think it is 100.\n*after*\n→ get_price({"item":"coat"})\n← 90\n180\n';
  expect(sideBySide(texts, 99, mark)).toBe(stacked);
  expect(sideBySide(texts, undefined, mark)).toBe(stacked);
});

it("puts both next to each other from 100 columns on, padded without the title's colors", () => {
  const lines = sideBySide(texts, 100, mark).trimEnd().split("\n");
  expect(lines).toHaveLength(4);
  expect(lines[0]).toBe(`*before*${" ".repeat(42)} │ *after*`);
  expect(lines[1]).toBe(`I think it is 100.${" ".repeat(30)} │ → get_price({"item":"coat"})`);
  expect(lines[3]).toBe(`${" ".repeat(48)} │ 180`);
});

it("wraps between words and breaks what is longer than a line", () => {
  const long = [
    { title: "before", text: "word ".repeat(20).trim() },
    { title: "after", text: "x".repeat(120) },
  ] as const;
  const lines = sideBySide(long, 100, String).trimEnd().split("\n");
  expect(lines.every(({ length }) => length < 100)).toBe(true);
  const right = lines.map((line) => line.split("│")[1]?.trim() ?? "").join("");
  expect(right).toBe(`after${"x".repeat(120)}`);
  expect(lines[1]).toMatch(/^(?:word ){9} +│/u);
});
