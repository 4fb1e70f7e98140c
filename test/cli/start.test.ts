/** What is loaded before a command runs: help and completion of a word must not wait for the engine. */
import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { expect, it } from "vitest";

const sources = join(import.meta.dirname, "../../src");

/** Files that importing this one loads, without those that it imports on demand, and without types. */
function loadedBy(file: string, found = new Set<string>()): ReadonlySet<string> {
  const name = relative(sources, file);
  if (found.has(name)) return found;
  found.add(name);
  const text = readFileSync(file, "utf8");
  const imports = text.matchAll(/^(?:import|export) (?!type )[^;]*?from "(\.[^"]+)";$/gmu);
  for (const [, path] of imports) loadedBy(join(dirname(file), path!), found);
  return found;
}

it("loads no command for the list of commands", () => {
  const loaded = [...loadedBy(join(sources, "cli/program.ts"))];
  expect(loaded.length).toBeLessThan(25);
  expect(loaded.filter((name) => name.startsWith("cli/commands/"))).toEqual([]);
});

it("loads the options, but neither trainer nor engine, for the help of train", () => {
  const loaded = [...loadedBy(join(sources, "cli/commands/train.ts"))];
  expect(loaded).toContain("config/fields.ts");
  const heavy = /^(?:launch|trainer|engine|gateway|backends|rollouts|models|view)\//u;
  expect(loaded.filter((name) => heavy.test(name))).toEqual([]);
});
