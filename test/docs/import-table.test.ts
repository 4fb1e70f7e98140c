import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readPage, root, tableRows, unquoted } from "./pages.ts";

interface LintConfig {
  readonly overrides: readonly {
    readonly files: readonly string[];
    readonly rules: Readonly<Record<string, unknown>>;
  }[];
}
type ImportRule = readonly [
  string,
  { readonly patterns: readonly { readonly group: readonly string[] }[] },
];

const config = JSON.parse(readFileSync(join(root, ".oxlintrc.json"), "utf8")) as LintConfig;
const rows = tableRows(readPage("docs/architecture.md"), "folder").map((row) => row.map(unquoted));
const folders = rows.map(([folder]) => folder!);

const list = (cell: string | undefined): string[] =>
  cell === undefined || cell === "–" ? [] : cell.split(", ").map(unquoted).sort();

/** What the linter forbids to a folder: patterns, in the order of the config, without repetition. */
function forbidden(folder: string): string[] {
  const override = config.overrides.find(({ files }) => files.join() === `src/${folder}/**/*.ts`);
  const rule = override?.rules["no-restricted-imports"] as ImportRule | undefined;
  return rule?.[1].patterns.flatMap(({ group }) => group) ?? [];
}

const ofFolder = /^(?:\.\.\/)+([\w-]+)\/\*\*$/u;

it("has every folder of src", () => {
  const found = readdirSync(join(root, "src"), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name);
  expect([...folders].sort()).toEqual(found.sort());
});

it("lets cli import everything", () => {
  expect(rows.find(([folder]) => folder === "cli")).toEqual(["cli", "everything", "–"]);
  expect(forbidden("cli")).toEqual([]);
});

const bordered = rows.filter(([folder]) => folder !== "cli");

it.each(bordered)("%s may import what the linter lets it", (folder, allowed, packages) => {
  const patterns = forbidden(folder);
  const named = patterns.flatMap((pattern) => ofFolder.exec(pattern)?.[1] ?? []);
  const denied = new Set(named.filter((name) => folders.includes(name)));
  const expected = folders.filter((other) => other !== folder && !denied.has(other));
  expect(list(allowed)).toEqual(expected.sort());
  // At any depth: a folder that is denied must be denied from sub-folders, too.
  for (const name of denied) {
    for (const up of ["../", "../../", "../../../"]) expect(patterns).toContain(`${up}${name}/**`);
  }
  const others = patterns.filter((pattern) => !denied.has(ofFolder.exec(pattern)?.[1] ?? ""));
  expect(list(packages)).toEqual(others.sort());
});

it("lets only runtime.ts import onnxruntime inside the engine", () => {
  const only = "src/engine/runtime.ts";
  expect(existsSync(join(root, only))).toBe(true);
  const override = config.overrides.find(({ files }) => files.join() === only);
  const rule = override?.rules["no-restricted-imports"] as ImportRule;
  const patterns = rule[1].patterns.flatMap(({ group }) => group);
  expect([...patterns, "onnxruntime-*"].sort()).toEqual(forbidden("engine").sort());
});
