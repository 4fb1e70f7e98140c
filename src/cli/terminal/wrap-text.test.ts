import { expect, it } from "vitest";
import { wrapText } from "./wrap-text.ts";

it("breaks between words and indents what follows", () => {
  expect(wrapText("  one two three four five six", 20, 2)).toBe(
    "  one two three four\n    five six",
  );
  expect(wrapText("short\n  a b", 20)).toBe("short\n  a b");
});

it("keeps words that are longer than a line, and every word in order", () => {
  const url = `https://example.com/${"x".repeat(40)}`;
  expect(wrapText(`see ${url} for more`, 20)).toBe(`see\n${url}\nfor more`);
  const text = Array.from({ length: 200 }, (_, i) => "w".repeat((i * 7) % 30) + i).join(" ");
  for (const columns of [20, 33, 80]) {
    const lines = wrapText(text, columns, 4).split("\n");
    expect(lines.join(" ").split(/\s+/u)).toEqual(text.split(" "));
    expect(lines.filter((line) => line.length > columns && line.trim().includes(" "))).toEqual([]);
  }
});

it("leaves a command one command", () => {
  expect(wrapText("  $ agent-trainer train a.yaml b=1", 22)).toBe(
    "  $ agent-trainer \\\n      train a.yaml b=1",
  );
});

it("changes nothing where there is no terminal", () => {
  const long = "word ".repeat(100);
  expect(wrapText(long, undefined)).toBe(long);
});
