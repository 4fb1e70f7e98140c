/** Which files are a split: what cards declare, and what names say, as in Hugging Face's `datasets` 5.2. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  chooseFiles,
  convertedFiles,
  ownFiles,
  withDefault,
} from "../../src/datasets/hub/choose-files.ts";
import { sharedCases } from "../shared-cases.ts";

interface Case {
  readonly files: readonly string[];
  readonly card?: string | null;
  readonly config?: string;
  readonly split?: string;
}

function choose({ files, card = null, config, split }: Case): readonly string[] {
  const readme = card === null ? null : `---\n${card}\n---\n# Data\n`;
  const id = { hub: "owner/data", config: config ?? null, split: split ?? null };
  return chooseFiles(ownFiles(files, readme), id);
}

interface SharedCase extends Case {
  readonly kind: string;
  readonly wanted: readonly string[];
}
const shared = sharedCases("training/hub.json");
describe.skipIf(shared === null)("shared repositories (skipped where there are none)", () => {
  const cases = shared === null ? [] : (JSON.parse(readFileSync(shared, "utf8")) as SharedCase[]);
  it.each(cases)("$kind: $files", (found) => expect(choose(found)).toEqual(found.wanted));
});

const card = (...configs: readonly object[]): string => `configs: ${JSON.stringify(configs)}`;
const both = ["x.jsonl", "y.jsonl"];

describe("a card", () => {
  const tree = [
    "a/test/1.jsonl",
    "a/train/1.jsonl",
    "a/train/2.jsonl",
    "b/test.jsonl",
    "b/train.jsonl",
    "top.jsonl",
  ];
  it.each<[string, Case, readonly string[]]>([
    [
      "a map with lists",
      {
        files: tree,
        split: "dev",
        card: card({
          config_name: "default",
          data_files: { train: ["a/train/*"], dev: ["b/*.jsonl", "b/test.jsonl"] },
        }),
      },
      ["b/test.jsonl", "b/train.jsonl"],
    ],
    [
      "a map in a folder",
      {
        files: tree,
        split: "test",
        card: card({
          config_name: "c",
          data_dir: "./b/",
          data_files: { train: "train.jsonl", test: "test.jsonl" },
        }),
      },
      ["b/test.jsonl"],
    ],
    [
      "splits in a folder",
      {
        files: tree,
        split: "train",
        card: card({
          config_name: "c",
          data_dir: "a",
          data_files: [{ split: "train", path: "train/*" }],
        }),
      },
      ["a/train/1.jsonl", "a/train/2.jsonl"],
    ],
    [
      "a folder only",
      {
        files: tree,
        split: "train",
        config: "a",
        card: card({ config_name: "a", data_dir: "a" }, { config_name: "b", data_dir: "b" }),
      },
      ["a/train/1.jsonl", "a/train/2.jsonl"],
    ],
    ["the folder of all", { files: both, card: card({ config_name: "c", data_dir: "." }) }, both],
    [
      "a configuration without files",
      { files: tree, split: "test", card: card({ config_name: "c" }) },
      ["a/test/1.jsonl"],
    ],
    [
      "a default, and another one asked for",
      {
        files: tree,
        split: "train",
        config: "a",
        card: card(
          { config_name: "a", data_dir: "a" },
          { config_name: "b", data_dir: "b", default: true },
        ),
      },
      ["a/train/1.jsonl", "a/train/2.jsonl"],
    ],
    [
      "one called default",
      {
        files: tree,
        split: "test",
        card: card({ config_name: "a", data_dir: "a" }, { config_name: "default", data_dir: "b" }),
      },
      ["b/test.jsonl"],
    ],
    [
      "files without a split",
      { files: both, split: "train", card: card({ config_name: "c", data_files: both }) },
      both,
    ],
    [
      "a file whose name is of another split",
      {
        files: ["my-test.jsonl"],
        split: "train",
        card: card({ config_name: "c", data_files: "my-test.jsonl" }),
      },
      ["my-test.jsonl"],
    ],
    [
      "files of several splits without one",
      { files: tree, split: "test", card: card({ config_name: "c", data_files: "b/*" }) },
      ["b/test.jsonl"],
    ],
    [
      "a file that is named twice",
      {
        files: both,
        card: card({ config_name: "c", data_files: ["*.jsonl", "x.jsonl", "./y.jsonl"] }),
      },
      both,
    ],
    [
      "a split of its own",
      {
        files: both,
        split: "hard",
        card: card({
          config_name: "c",
          data_files: [
            { split: "easy", path: "x.jsonl" },
            { split: "hard", path: ["y.jsonl"] },
          ],
        }),
      },
      ["y.jsonl"],
    ],
    [
      "numbers for names",
      {
        files: both,
        config: "2024",
        split: "1",
        card: card(
          { config_name: 2023, data_files: "x.jsonl" },
          { config_name: 2024, data_files: [{ split: 1, path: "y.jsonl" }] },
        ),
      },
      ["y.jsonl"],
    ],
    [
      "a hidden file by name",
      {
        files: [".raw/x.jsonl", "x.jsonl"],
        card: card({ config_name: "c", data_files: ".raw/*.jsonl" }),
      },
      [".raw/x.jsonl"],
    ],
    [
      "a file of metadata by name",
      {
        files: ["config.json", "x.json"],
        card: card({ config_name: "c", data_files: "config.json" }),
      },
      ["config.json"],
    ],
  ])("with %s", (_, found, wanted) => expect(choose(found)).toEqual(wanted));

  // Python 3.12: [f for f in files if fnmatch.fnmatchcase(f, glob)], of files of one folder.
  it.each([
    ["t[0-1].csv", ["t0.csv", "t1.csv"]],
    ["t[!0-1].csv", ["t2.csv", "t].csv"]],
    ["t[^0].csv", ["t0.csv"]],
    ["t[]].csv", ["t].csv"]],
    ["t[!]0].csv", ["t1.csv", "t2.csv"]],
    ["t[02].csv", ["t0.csv", "t2.csv"]],
    ["t[9-0].csv", []],
    ["t[0", []],
    ["t?.csv", ["t0.csv", "t1.csv", "t2.csv", "t].csv"]],
    ["[a-z][0-9]*", ["t0.csv", "t1.csv", "t2.csv"]],
  ])("with the pattern %j", (glob, wanted) => {
    const files = ["t0.csv", "t1.csv", "t2.csv", "t].csv"];
    const read = (): readonly string[] =>
      choose({ files, card: card({ config_name: "c", data_files: glob }) });
    if (wanted.length === 0) expect(read).toThrow(/declares files in its README\.md, but none/u);
    else expect(read()).toEqual(wanted);
  });
  it("with a set that has no slash", () => {
    const declared = card({ config_name: "c", data_files: "a[!b]c.csv" });
    expect(choose({ files: ["a/c.csv", "axc.csv"], card: declared })).toEqual(["axc.csv"]);
  });

  it.each<[string, Case, RegExp]>([
    [
      "with files that are not there",
      { files: both, card: card({ config_name: "c", data_files: "z.jsonl" }) },
      /none of them is there/u,
    ],
    [
      "of which one configuration is not there",
      {
        files: both,
        config: "c",
        card: card(
          { config_name: "c", data_files: "z.jsonl" },
          { config_name: "d", data_files: "x.jsonl" },
        ),
      },
      /files of "c" .* none of them is there/u,
    ],
    [
      "with two defaults",
      {
        files: both,
        card: card(
          { config_name: "c", default: true, data_files: "x.jsonl" },
          { config_name: "d", default: true, data_files: "y.jsonl" },
        ),
      },
      /several configurations: c, d/u,
    ],
    [
      "without the configuration",
      { files: both, config: "e", card: card({ config_name: "c", data_files: "x.jsonl" }) },
      /no configuration "e"; it has c/u,
    ],
    [
      "without the split",
      { files: both, split: "test", card: card({ config_name: "c", data_files: "x.jsonl" }) },
      /no split "test"; it has train/u,
    ],
  ])("%s is refused", (_, found, message) => expect(() => choose(found)).toThrow(message));
});

describe("names", () => {
  it.each<[readonly string[], string | undefined, readonly string[]]>([
    [
      ["data/train-00000-of-00001.parquet", "extra.parquet", "train.jsonl"],
      undefined,
      ["data/train-00000-of-00001.parquet"],
    ],
    [
      ["data/hard-00000-of-00001.parquet", "data/train-00000-of-00001.parquet"],
      "hard",
      ["data/hard-00000-of-00001.parquet"],
    ],
    [["train/x_test.jsonl", "test/x.jsonl"], "train", ["train/x_test.jsonl"]],
    [["train/x.jsonl", "notes.jsonl"], undefined, ["train/x.jsonl"]],
    [["my_training-1.jsonl", "trainer.jsonl"], undefined, ["my_training-1.jsonl"]],
    [["dev.csv", "train.csv", "eval-2.csv"], "validation", ["dev.csv"]],
    [["a.jsonl", "b.jsonl", "c.csv"], undefined, ["a.jsonl", "b.jsonl"]],
    [["a.csv", "a.parquet"], undefined, ["a.parquet"]],
    [["Test.jsonl", "Train.jsonl"], "train", ["Train.jsonl"]],
    [["x.json", "config.json", "dataset_dict.json", "dataset_info.json"], undefined, ["x.json"]],
    [[".cache/train.jsonl", "__old__/train.jsonl", "x.jsonl"], undefined, ["x.jsonl"]],
  ])("%j, split %s", (files, split, wanted) => {
    expect(choose({ files, ...(split === undefined ? {} : { split }) })).toEqual(wanted);
  });
});

describe("the copy that a hub keeps", () => {
  const files = ["a/train/0000.parquet", "b/train/0000.parquet", "b/train/0001.parquet"];
  const id = { hub: "owner/data", split: "train" };
  it("has the default of the card", () => {
    const copy = convertedFiles(files)!;
    expect(() => chooseFiles(copy, id)).toThrow(/several configurations: a, b/u);
    const readme = `---\n${card({ config_name: "a" }, { config_name: "b", default: true })}\n---`;
    expect(chooseFiles(withDefault(copy, readme), id)).toEqual(files.slice(1));
    expect(() => chooseFiles(withDefault(copy, null), id)).toThrow(/several configurations/u);
  });
});

describe("a hub that lists 200,000 files", () => {
  const names = Array.from(
    { length: 200_000 },
    (_, i) => `part-${i}/data-${i}-train-valid-x.jsonl`,
  );
  const hub = "owner/data";
  it("is read in bounded time, and refused in few words", () => {
    const start = performance.now();
    const declared = `---\n${card({ config_name: "c", data_files: "**/data-[0-9]*x.jsonl" })}\n---`;
    expect(() => chooseFiles(ownFiles(names, null), { hub })).toThrow(
      /has 200000 files of this split, but 10000/u,
    );
    expect(() => chooseFiles(ownFiles(names, declared), { hub })).toThrow(/200000 files/u);
    const copy = convertedFiles(names.map((_, i) => `c${i}/train/0000.parquet`))!;
    expect(() => chooseFiles(copy, { hub })).toThrow(/: c0, c1, .* and 199980 more\./u);
    expect(performance.now() - start).toBeLessThan(20_000);
  });
});
