import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { codeBlocks, readPage, root, tableRows, unquoted } from "./pages.ts";

interface LintConfig {
  readonly overrides: readonly {
    readonly files: readonly string[];
    readonly rules: Readonly<Record<string, unknown>>;
  }[];
}
type ImportRule = readonly [
  string,
  {
    readonly patterns: readonly { readonly regex?: string; readonly group?: readonly string[] }[];
  },
];

const config = JSON.parse(readFileSync(join(root, ".oxlintrc.json"), "utf8")) as LintConfig;
const rows = tableRows(readPage("docs/architecture.md"), "folder").map((row) => row.map(unquoted));
const folders = rows.map(([folder]) => folder!);

const list = (cell: string | undefined): string[] =>
  cell === undefined || cell === "–" ? [] : cell.split(", ").map(unquoted).sort();

/** The patterns that the linter holds against the files of `place`. */
function patternsOf(place: string): ImportRule[1]["patterns"] {
  const override = config.overrides.find(({ files }) => files.join() === place);
  const rule = override?.rules["no-restricted-imports"] as ImportRule | undefined;
  return rule?.[1].patterns ?? [];
}

/** Folders of `src` that the files of `place` may not import, at any depth of theirs. */
function denied(place: string): string[] {
  const borders = patternsOf(place).flatMap(({ regex }) => regex ?? []);
  const isDenied = (path: string): boolean =>
    borders.some((border) => new RegExp(border, "u").test(path));
  return folders.filter((folder) => {
    const found = ["../", "../../", "../../../../"].map((up) => isDenied(`${up}${folder}/a.ts`));
    expect(new Set(found).size, `${place}: ${folder}`).toBe(1);
    return found[0];
  });
}

const packagesDenied = (place: string): string[] =>
  patternsOf(place).flatMap(({ group = [] }) => group);

it("has every folder of src", () => {
  const found = readdirSync(join(root, "src"), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name);
  expect([...folders].sort()).toEqual(found.sort());
});

it("lets cli import everything", () => {
  expect(rows.find(([folder]) => folder === "cli")).toEqual(["cli", "everything", "–"]);
  expect(patternsOf("src/cli/**/*.ts")).toEqual([]);
});

const bordered = rows.filter(([folder]) => folder !== "cli");

it.each(bordered)("%s may import what the linter lets it", (folder, allowed, packages) => {
  const place = `src/${folder}/**/*.ts`;
  const others = denied(place);
  const expected = folders.filter((other) => other !== folder && !others.includes(other));
  expect(list(allowed)).toEqual(expected.sort());
  expect(list(packages)).toEqual(packagesDenied(place).sort());
});

it("has a picture with every folder", () => {
  const picture = codeBlocks(readPage("docs/architecture.md"))[0]!.code;
  const words = new Set(picture.match(/[\w-]+/gu));
  expect(folders.filter((folder) => !words.has(folder))).toEqual([]);
});
