/** Which files of a repository are which configuration and split of its dataset. */
import { extname } from "node:path";
import { RE2JS } from "re2js";
import { ConfigError } from "../../core/errors.ts";
import { parseYaml } from "../../util/yaml-text.ts";
import type { HubDataset } from "./hub-name.ts";
import { isJsonObject } from "../../util/json-object.ts";

/** Files by split, by configuration. */
type Splits = ReadonlyMap<string, readonly string[]>;
export type Configurations = ReadonlyMap<string, Splits>;

class Collected {
  readonly configurations = new Map<string, Map<string, string[]>>();

  add(config: string, split: string, file: string): void {
    const splits = this.configurations.get(config) ?? new Map<string, string[]>();
    this.configurations.set(config, splits);
    const own = splits.get(split);
    if (own === undefined) splits.set(split, [file]);
    else own.push(file);
  }
}

/**
 * The layout of the Parquet copies that a hub makes: `CONFIG/SPLIT/0000.parquet`.
 * Null when a part of the data is missing from the copy.
 */
export function convertedFiles(files: readonly string[]): Configurations | null {
  const found = new Collected();
  for (const file of files.toSorted()) {
    const [, config, split] = /^([^/]+)\/([^/]+)\/\d+\.parquet$/u.exec(file) ?? [];
    if (config === undefined || split === undefined) continue;
    if (split.startsWith("partial-")) return null;
    found.add(config, split, file);
  }
  return found.configurations.size === 0 ? null : found.configurations;
}

/** In the order of preference, where the same data is there in several formats. */
const endings = [".parquet", ".jsonl", ".ndjson", ".json", ".csv", ".tsv"];

const keywords: readonly (readonly [split: string, words: string])[] = [
  ["train", "train|training"],
  ["validation", "validation|valid|val|dev"],
  ["test", "test|testing|eval|evaluation"],
];

/** The split that a path names, in its file or in the nearest folder. */
function splitOf(file: string): string {
  for (const part of file.toLowerCase().split("/").toReversed()) {
    for (const [split, words] of keywords) {
      if (new RegExp(`(?:^|[^a-z])(?:${words})(?:[^a-z]|$)`, "u").test(part)) return split;
    }
  }
  return "train";
}

function dataFiles(files: readonly string[]): readonly string[] {
  const visible = files.filter((file) => !/(?:^|\/)\./u.test(file)).toSorted();
  for (const ending of endings) {
    const some = visible.filter((file) => extname(file).toLowerCase() === ending);
    if (some.length > 0) return some;
  }
  return [];
}

/** Steps of matching for one dataset, about a second. */
const maxSteps = 2 ** 28;

/**
 * `data/train-*.parquet` and the like, with `*`, `**` and `?`. The time for a file is the product of
 * its length and of the number of marks.
 */
function matcher(glob: string): (file: string) => boolean {
  if (!/[*?]/u.test(glob)) return (file) => file === glob;
  const source = glob.replaceAll(/\*\*\/|\*\*|\*|\?|[.+^${}()|[\]\\]/gu, (mark) => {
    if (mark === "**/") return "(?:.*/)?";
    if (mark === "**") return ".*";
    if (mark === "*") return "[^/]*";
    return mark === "?" ? "[^/]" : `\\${mark}`;
  });
  const pattern = RE2JS.compile(source);
  return (file) => pattern.matches(file);
}

const listOf = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value : value === undefined ? [] : [value];

const textOr = (value: unknown, otherwise: string): string =>
  typeof value === "string" ? value : otherwise;

const maxGlobChars = 1_024;

function tooManyGlobs(glob: string): ConfigError {
  return new ConfigError({
    message: `The README.md of the dataset declares its files by patterns that take too long to match; the last one was ${JSON.stringify(glob.slice(0, 100))}.`,
    hint: "Download the files that you want, and name them as dataset.train.",
    fields: { glob: glob.slice(0, 1_000) },
  });
}

/** The configurations that a README declares; null when it declares none. */
function declaredFiles(readme: string, files: readonly string[]): Configurations | null {
  const front = /^---\r?\n([\s\S]*?)\r?\n---/u.exec(readme)?.[1];
  let declared: unknown;
  try {
    declared = front === undefined ? null : parseYaml(front);
  } catch {
    return null;
  }
  if (!isJsonObject(declared) || !Array.isArray(declared["configs"])) return null;
  const found = new Collected();
  const readable = files.toSorted().filter((file) => endings.includes(extname(file).toLowerCase()));
  const chars = readable.reduce((sum, file) => sum + file.length, 0);
  let steps = 0;
  for (const one of declared["configs"] as readonly unknown[]) {
    if (!isJsonObject(one)) continue;
    const config = textOr(one["config_name"], "default");
    for (const entry of listOf(one["data_files"])) {
      const globs = listOf(isJsonObject(entry) ? entry["path"] : entry);
      for (const given of globs) {
        const glob = String(given).replace(/^\.\//u, "");
        steps += (1 + glob.replaceAll(/[^*?]/gu, "").length) * chars;
        if (glob.length > maxGlobChars || steps > maxSteps) throw tooManyGlobs(glob);
        const matches = matcher(glob);
        for (const file of readable) {
          if (!matches(file)) continue;
          found.add(
            config,
            isJsonObject(entry) ? textOr(entry["split"], "train") : splitOf(file),
            file,
          );
        }
      }
    }
  }
  return found.configurations.size === 0 ? null : found.configurations;
}

/** The repository's own files: what its README declares, or else what their names say. */
export function ownFiles(files: readonly string[], readme: string | null): Configurations {
  const declared = readme === null ? null : declaredFiles(readme, files);
  if (declared !== null) return declared;
  const found = new Collected();
  for (const file of dataFiles(files)) found.add("default", splitOf(file), file);
  return found.configurations;
}

function choose<T>(
  all: ReadonlyMap<string, T>,
  asked: string | null | undefined,
  fallback: string | null,
  fail: (names: string) => ConfigError,
): T {
  const [only] = all.size === 1 ? all.keys() : [];
  const name = asked ?? only ?? (fallback !== null && all.has(fallback) ? fallback : null);
  const found = name === null ? undefined : all.get(name);
  if (found === undefined) throw fail([...all.keys()].join(", "));
  return found;
}

/** @throws ConfigError that lists what there is, when the name fits none or several. */
export function chooseFiles(all: Configurations, id: HubDataset): readonly string[] {
  const { hub, config, split } = id;
  const wrong = (what: string, asked: string | null | undefined, names: string): ConfigError =>
    new ConfigError({
      message:
        asked === null || asked === undefined
          ? `The dataset ${hub} has several ${what}s: ${names}.`
          : `The dataset ${hub} has no ${what} "${asked}"; it has ${names}.`,
      hint: "Name one, as in hf:OWNER/NAME/CONFIG:SPLIT.",
      fields: { dataset: hub, config, split },
    });
  const splits = choose(all, config, "default", (names) => wrong("configuration", config, names));
  return choose(splits, split, null, (names) => wrong("split", split, names));
}
