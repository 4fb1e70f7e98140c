/** What the names of a repository's files say, as in `datasets` 5.2: which are data, and of which split. */
import { basename, extname } from "node:path";
import { addTo } from "../../util/group-by.ts";

/** Files by split. */
export type Splits = ReadonlyMap<string, readonly string[]>;

/** In the order of preference, where as many files have several formats. */
const endings = [".parquet", ".jsonl", ".ndjson", ".json", ".csv", ".tsv"];

/** JSON that describes a dataset. */
const notData = new Set(
  ["config", "dataset_info", "dataset_infos", "dataset_dict"].map((name) => `${name}.json`),
);

const endingOf = (file: string): string => extname(file).toLowerCase();

/** Parts of a path that are hidden, or special like `__pycache__`. */
function unlisted(path: string): number {
  const parts = path.split("/");
  const hidden = parts.filter((part) => part.startsWith(".") && !/^\.+$/u.test(part));
  return hidden.length + parts.slice(0, -1).filter((part) => part.startsWith("__")).length;
}

/** Whether a file can be read and is meant as data. @param asked a pattern, which may ask for hidden ones by name */
export function isData(file: string, asked: string = ""): boolean {
  if (!endings.includes(endingOf(file)) || unlisted(file) !== unlisted(asked)) return false;
  return !notData.has(basename(file)) || basename(asked) === basename(file);
}

const words = [
  ["train", "train|training"],
  ["validation", "validation|valid|val|dev"],
  ["test", "test|testing|eval|evaluation"],
] as const;
const mark = String.raw`[-._ \d]`;
const inFile = words.map(
  ([split, any]) => [split, new RegExp(`(?:^|${mark})(?:${any})${mark}`, "u")] as const,
);
const inFolder = words.map(
  ([split, any]) => [split, new RegExp(`(?:^|${mark})(?:${any})(?:${mark}|$)`, "u")] as const,
);

const wordIn = (part: string, patterns: typeof inFile): string | null =>
  patterns.find(([, pattern]) => pattern.test(part))?.[0] ?? null;

/** `data/SPLIT-00000-of-00001.parquet`, which `push_to_hub` writes; any name may be a split. */
function shardSplit(file: string): string | null {
  const name = /^data\/([^/]+)$/u.exec(file)?.[1];
  return /^(\w+(?:\.\w+)*)-\d{5}-of-\d{5}[^/]*\.[^/]*$/u.exec(name ?? "")?.[1] ?? null;
}

/** The split of the nearest folder that names one. */
function folderSplit(file: string): string | null {
  const folders = file.toLowerCase().split("/").slice(0, -1).toReversed();
  for (const folder of folders) {
    const split = wordIn(folder, inFolder);
    if (split !== null) return split;
  }
  return null;
}

const fileSplit = (file: string): string | null => wordIn(basename(file).toLowerCase(), inFile);

/** Files that have the format of most of them. */
function ofOneFormat(files: readonly string[]): readonly string[] {
  const counts = endings.map((ending) => files.filter((file) => endingOf(file) === ending).length);
  const most = endings[counts.indexOf(Math.max(...counts))];
  return files.filter((file) => endingOf(file) === most);
}

function groupBySplit(files: readonly string[], splitOf: (file: string) => string): Splits {
  const splits = new Map<string, string[]>();
  for (const file of files) addTo(splits, splitOf(file), file);
  return splits;
}

/**
 * The splits that names tell apart: those of shards, or else of folders, or else of files. Where any file names its
 * split, the others are not data; where none does, all are for training.
 */
export function splitsByName(files: readonly string[], folder: string = ""): Splits {
  const below = (file: string): string => file.slice(folder.length);
  const data = files.filter((file) => file.startsWith(folder) && isData(below(file))).toSorted();
  for (const splitOf of [shardSplit, folderSplit, fileSplit, () => "train"]) {
    const named = data.filter((file) => splitOf(below(file)) !== null);
    if (named.length > 0) return groupBySplit(ofOneFormat(named), (file) => splitOf(below(file))!);
  }
  return new Map();
}

/** The splits of files that were declared without one: those that their names say if they differ, else training. */
export function splitsOfList(files: readonly string[]): Splits {
  const byName = groupBySplit(files, (file) => fileSplit(file) ?? folderSplit(file) ?? "train");
  return byName.size > 1 ? byName : new Map(files.length === 0 ? [] : [["train", files]]);
}
