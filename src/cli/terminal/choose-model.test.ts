import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { knownModels } from "../../launch/init/known-models.ts";
import { chooseModel, modelTable, readChoice } from "./choose-model.ts";

it("has a table of at most 80 columns, and says where the minutes are from", () => {
  const table = modelTable(String, String);
  expect(Math.max(...table.split("\n").map(({ length }) => length))).toBeLessThanOrEqual(80);
  for (const { name, goodFor } of knownModels) {
    expect(table).toContain(`${name} `);
    expect(table).toContain(goodFor);
  }
  expect(table).toContain("benchmarks/results/grpo-step.json");
  // One is measured, the others are not.
  expect(table.match(/ ~ [\d.]+ (?:s|min)$/gmu)).toHaveLength(knownModels.length - 1);
});

it.each([
  ["", knownModels[0]?.name],
  ["2", knownModels[1]?.name],
  [" Qwen/Qwen3-4B ", "Qwen/Qwen3-4B"],
  ["0", null],
  ["99", null],
])("reads %j as %j", (answer, name) => {
  expect(readChoice(answer)).toBe(name);
});

async function choose(typed: string) {
  let text = "";
  const stderr = { write: (part: string) => (text += part) };
  const input = new PassThrough();
  const chosen = chooseModel({ stdout: stderr, stderr }, input, new PassThrough());
  input.end(typed);
  return { chosen: await chosen, text };
}

it("asks again after a number that is not in the table, and gives up at the end of the input", async () => {
  expect((await choose("99\n3\n")).chosen).toBe(knownModels[2]?.name);
  const none = await choose("99\n");
  expect(none.chosen).toBeNull();
  expect(none.text).toContain("There is no number 99 in the table.");
});
