import { expect, it } from "vitest";
import type { ConfigError } from "../../src/core/errors.ts";
import { configFields } from "../../src/config/fields.ts";
import { buildTrainConfig } from "../../src/config/load.ts";
import { freeOptions } from "../../src/trainer/run-folder/run-identity.ts";
import { withOptionTables } from "../../scripts/option-docs.ts";
import { readPage, tableRows, unquoted } from "./pages.ts";

const page = readPage("docs/configuration.md");
const rows = new Map(tableRows(page, "key").map(([key, ...rest]) => [unquoted(key!), rest]));

it("has the tables that npm run schema writes", () => {
  expect(withOptionTables(page)).toBe(page);
});

const numbers = (text: string): string[] => text.match(/-?\d+(?:\.\d+)?/gu) ?? [];

it("lists exactly the keys there are, in their order", () => {
  expect([...rows.keys()]).toEqual(configFields().map((field) => field.key));
});

it.each(configFields())("tells default and bounds of $key", (field) => {
  const [value = "", allowed = "", meaning = ""] = rows.get(field.key) ?? [];
  const expected = field.default === undefined ? "required" : JSON.stringify(field.default);
  expect(unquoted(value)).toBe(expected);
  expect(numbers(allowed)).toEqual(numbers(field.allowed));
  const names = field.allowed.startsWith("one of ") ? field.allowed : "";
  expect(allowed).toContain(names);
  expect(allowed).not.toBe("");
  expect(meaning).not.toBe("");
});

it("lists the short names of buildTrainConfig", () => {
  const shortNames = tableRows(page, "short name").map(([name]) => unquoted(name!));
  let message = "";
  try {
    buildTrainConfig({ "no such name": 1 } as object);
  } catch (error) {
    message = (error as ConfigError).message;
  }
  const known = /Allowed: (.*)\.$/u.exec(message)?.[1]?.split(", ");
  expect(shortNames).toEqual(known);
});

it("lists what may change when a run continues", () => {
  const listed = tableRows(page, "may change").map(([key]) => unquoted(key!));
  expect(listed).toEqual(freeOptions());
});
