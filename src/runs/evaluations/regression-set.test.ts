import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { addRegressions, readRegressions } from "./regression-set.ts";

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "regressions-"));
  file = join(folder, "regressions.jsonl");
});
afterEach(() => rmSync(folder, { recursive: true }));

const task = (id: string) => ({ id, instruction: `Do ${id}.`, metadata: { answer: id } });

it("grows, and has each task once", () => {
  expect(readRegressions(file)).toEqual([]);
  expect(addRegressions(file, [task("a"), task("b"), task("a")])).toBe(2);
  expect(addRegressions(file, [task("b"), task("c")])).toBe(1);
  expect(addRegressions(file, [task("c")])).toBe(0);
  expect(readRegressions(file)).toEqual([task("a"), task("b"), task("c")]);
});

it("takes lines that a person added, with any line ends", () => {
  addRegressions(file, [task("a")]);
  appendFileSync(file, `${JSON.stringify(task("b"))}\n`);
  writeFileSync(file, readFileSync(file, "utf8").replaceAll("\n", "\r\n"));
  expect(readRegressions(file).map(({ id }) => id)).toEqual(["a", "b"]);
});

it.each([
  ["removed", (lines: string[]) => lines.slice(1)],
  ["changed", (lines: string[]) => ['{"question":"x"}', ...lines.slice(1)]],
  ["moved", (lines: string[]) => lines.toReversed()],
])("refuses a set of which a task was %s", (_what, change) => {
  addRegressions(file, [task("a"), task("b")]);
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  writeFileSync(file, `${change(lines).join("\n")}\n`);
  expect(() => readRegressions(file)).toThrow("never removed or changed");
  expect(() => addRegressions(file, [task("c")])).toThrow("never removed or changed");
});

it("refuses what was added by hand and then removed", () => {
  addRegressions(file, [task("a")]);
  const before = readFileSync(file);
  appendFileSync(file, `${JSON.stringify(task("b"))}\n`);
  readRegressions(file);
  writeFileSync(file, before);
  expect(() => readRegressions(file)).toThrow("never removed or changed");
});

it.each([
  ["{", "regressions.jsonl:1 is not valid JSON"],
  ['{"id": "a"}', "instruction"],
  ['{"id":"a","question":"x"}\n{"id":"a","question":"y"}', "is there twice"],
])("names the line that is no task: %s", (text, why) => {
  writeFileSync(file, `${text}\n`);
  expect(() => readRegressions(file)).toThrow(why);
});
