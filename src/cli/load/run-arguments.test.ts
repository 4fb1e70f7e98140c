import { describe, expect, it } from "vitest";
import { readArguments } from "./run-arguments.ts";

describe("readArguments", () => {
  it.each([
    ["no flag", ["c.yaml", "a=1"], {}, ["c.yaml", ["a=1"], false]],
    ["--resume alone", ["c.yaml"], { resume: true }, ["c.yaml", [], "auto"]],
    ["--resume FOLDER", ["c.yaml"], { resume: "runs/a" }, ["c.yaml", [], "runs/a"]],
    ["--resume before an override", ["c.yaml"], { resume: "a.b=1" }, ["c.yaml", ["a.b=1"], "auto"]],
    ["--resume before the file", ["a=1"], { resume: "c.yaml" }, ["c.yaml", ["a=1"], "auto"]],
    ["a folder with =", ["c.yaml"], { resume: "runs/lr=1" }, ["c.yaml", [], "runs/lr=1"]],
    ["--seed", ["c.yaml", "a=1"], { seed: 3 }, ["c.yaml", ["a=1", "trainer.seed=3"], false]],
  ])("%s", (_, positional, flags, [configFile, overrides, resume]) => {
    expect(readArguments(positional, flags)).toEqual({ configFile, overrides, resume });
  });
  it("--allow-changes alone is refused", () => {
    expect(() => readArguments(["c.yaml"], { allowChanges: true })).toThrow(
      "no effect without --resume",
    );
    const both = readArguments(["c.yaml"], { allowChanges: true, resume: true });
    expect(both).toMatchObject({ resume: "auto" });
  });
});
