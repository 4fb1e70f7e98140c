import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readContents } from "../../scripts/contents.ts";
import { llmsFile, llmsText } from "../../scripts/llms-text.ts";
import { readPage, root } from "./pages.ts";

it("is written from docs/index.md: npm run schema does it", () => {
  expect(readPage(llmsFile)).toBe(llmsText());
});

it("has the form of llmstxt.org: a title, a summary, lists of links", () => {
  const [title, summary, ...rest] = readPage(llmsFile).split("\n\n");
  expect(title).toMatch(/^# \S+$/u);
  expect(summary).toMatch(/^> /u);
  const lists = rest
    .filter((part) => part.startsWith("- "))
    .flatMap((part) => part.trim().split("\n"));
  expect(lists.filter((line) => !/^- \[[^\]]+\]\([^)]+\)(?:: .+)?$/u.test(line))).toEqual([]);
});

it("names every page of the list that the package has", () => {
  const paths = readContents().flatMap(({ entries }) => entries);
  expect(paths.length).toBeGreaterThan(30);
  expect(paths.filter(({ path }) => !existsSync(join(root, path)))).toEqual([]);
  const text = readPage(llmsFile);
  const lacking = paths.filter(({ path, isPackaged }) => isPackaged && !text.includes(`(${path})`));
  expect(lacking).toEqual([]);
});
