import { expect, it } from "vitest";
import { configFields } from "../../src/config/fields.ts";
import { withOptionTables, onResume } from "../../scripts/option-docs.ts";
import { readPage, tableRows, unquoted } from "./pages.ts";

const page = readPage("docs/options.md");
const rows = new Map(tableRows(page, "key").map(([key, ...rest]) => [unquoted(key!), rest]));

it("has the tables that npm run schema writes", () => {
  expect(withOptionTables(page)).toBe(page);
});

const numbers = (text: string): string[] => text.match(/-?\d+(?:\.\d+)?/gu) ?? [];

it("lists exactly the keys there are, in their order", () => {
  expect([...rows.keys()]).toEqual(configFields().map((field) => field.key));
});

it.each(configFields())("has the default and the bounds of $key", (field) => {
  const [value = "", allowed = "", resume = "", meaning = ""] = rows.get(field.key) ?? [];
  const expected = field.default === undefined ? "required" : JSON.stringify(field.default);
  expect(unquoted(value)).toBe(expected);
  expect(numbers(allowed)).toEqual(numbers(field.allowed));
  const names = field.allowed.startsWith("one of ") ? field.allowed : "";
  expect(allowed).toContain(names);
  expect(allowed).not.toBe("");
  expect(resume).toBe(onResume[field.resume]);
  expect(meaning).not.toBe("");
});
