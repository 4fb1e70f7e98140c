/** The names that the package exports: which they are, and that each is documented where it is declared. */
import { describe, expect, it } from "vitest";
import { apiSources, apiSourcesFile } from "./api-sources.ts";
import { readPage } from "./pages.ts";
import { publicNames } from "./public-api.ts";

const names = publicNames();
const entries = [...new Set(names.map(({ entry }) => entry))];

/** Names that people meet first. */
const shown = [
  "AgentTrainer",
  "AgentFlow",
  "Evaluator",
  "Workflow",
  "createFireworksBackend",
  "createFireworksClient",
  "createGateway",
  "createLocalBackend",
  "createScriptedTarget",
  "createTinkerBackend",
  "createTinkerClient",
  "createVerlBackend",
  "defineConfig",
  "defineTrajectory",
  "loadConfig",
  "withTrajectory",
];

describe.each(entries)("%s", (entry) => {
  const own = names.filter((one) => one.entry === entry);
  const sorted = (isType: boolean): string[] =>
    own
      .filter((one) => one.isType === isType)
      .map(({ name }) => name)
      .sort();

  it("exports these names (change them on purpose)", () => {
    expect({ values: sorted(false), types: sorted(true) }).toMatchSnapshot();
    expect(new Set(own.map(({ name }) => name)).size).toBe(own.length);
  });

  it("has a section on each in docs/api (npm run docs:api)", () => {
    const page = readPage(`docs/api/${entry.split("/")[1] ?? entry}.md`);
    const headings = [...page.matchAll(/^## (?:`abstract` )?(\w+)(?:\(\))?$/gmu)].map(
      ([, name]) => name,
    );
    // A name of two entries is described in one and linked from the other.
    const links = [...page.matchAll(/^Re-exports \[(\w+)\]/gmu)].map(([, name]) => name);
    expect(new Set([...headings, ...links])).toEqual(new Set(own.map(({ name }) => name)));
  });

  it("has TSDoc on each", () => {
    const bare = own.filter(({ doc }) => !/^\/\*\*[\s*]+[^\s*@]/u.test(doc));
    expect(bare.map(({ name, file }) => `${name} (${file})`)).toEqual([]);
  });
});

it("docs/api is of these declarations and comments (npm run docs:api)", () => {
  const written = JSON.parse(readPage(apiSourcesFile)) as Record<string, string>;
  const now = apiSources();
  expect(Object.keys(now)).toEqual(Object.keys(written));
  expect(Object.keys(now).filter((file) => now[file] !== written[file])).toEqual([]);
});

it("one name means one thing in all entries", () => {
  const files = new Map<string, Set<string>>();
  for (const { name, file } of names) files.set(name, (files.get(name) ?? new Set()).add(file));
  const clashes = [...files].filter(([, own]) => own.size > 1).map(([name]) => name);
  expect(clashes).toEqual([]);
});

it.each(shown)("%s has an example", (name) => {
  const docs = names.filter((one) => one.name === name).map(({ doc }) => doc);
  expect(docs).not.toEqual([]);
  for (const doc of docs) expect(doc).toContain("@example");
});
