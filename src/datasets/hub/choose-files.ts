/** Which files of a repository are which configuration and split of its dataset. */
import { ConfigError } from "../../core/errors.ts";
import { addTo } from "../../util/group-by.ts";
import { isJsonObject, type JsonFields, listOf } from "../../util/json-object.ts";
import { parseYaml } from "../../util/yaml-text.ts";
import { isData, type Splits, splitsByName, splitsOfList } from "./file-names.ts";
import { globMatcher, stepsOf } from "./glob.ts";
import type { HubDataset } from "./hub-name.ts";

export interface Configurations {
  readonly all: ReadonlyMap<string, Splits>;
  /** Which one is meant where none is named; null where that is not said. */
  readonly byDefault: string | null;
}

/** One that is the only one, or called "default", needs no name. */
function configurations(
  all: ReadonlyMap<string, Splits>,
  preferred: readonly string[] = [],
): Configurations {
  const names = [...all.keys()];
  const named = names.filter((name) => name === "default" || preferred.includes(name));
  const [first, ...others] = names.length === 1 ? names : named;
  return { all, byDefault: others.length === 0 ? (first ?? null) : null };
}

/**
 * The layout of the Parquet copies that a hub makes: `CONFIG/SPLIT/0000.parquet`.
 * Null when a part of the data is missing from the copy.
 */
export function convertedFiles(files: readonly string[]): Configurations | null {
  const ofConfig = new Map<string, Map<string, string[]>>();
  for (const file of files.toSorted()) {
    const [, config, split] = /^([^/]+)\/([^/]+)\/\d+\.parquet$/u.exec(file) ?? [];
    if (config === undefined || split === undefined) continue;
    if (split.startsWith("partial-")) return null;
    const splits = ofConfig.get(config) ?? new Map<string, string[]>();
    addTo(splits, split, file);
    ofConfig.set(config, splits);
  }
  return ofConfig.size === 0 ? null : configurations(ofConfig);
}

/** Steps of matching for one dataset, about a second. */
const maxSteps = 2 ** 28;
const maxGlobChars = 1_024;

function tooManyGlobs(glob: string): ConfigError {
  return new ConfigError({
    message: `The README.md of the dataset declares its files by patterns that take too long to match; the last one was ${JSON.stringify(glob.slice(0, 100))}.`,
    hint: "Download the files that you want, and name them as dataset.train.",
    fields: { glob: glob.slice(0, 1_000) },
  });
}

/** Finds the files that patterns name, each once, within a number of steps. */
class Finder {
  readonly #files: readonly string[];
  readonly #chars: number;
  #steps = 0;

  constructor(files: readonly string[]) {
    this.#files = files.toSorted();
    this.#chars = this.#files.reduce((sum, file) => sum + file.length, 0);
  }

  /** @param folder with a slash at its end, or empty */
  find(globs: unknown, folder: string): readonly string[] {
    const found = (Array.isArray(globs) ? globs : [globs]).flatMap((given: unknown) => {
      const glob = String(given).replace(/^\.\//u, "");
      this.#steps += stepsOf(glob) * this.#chars;
      if (glob.length > maxGlobChars || this.#steps > maxSteps) throw tooManyGlobs(glob);
      const matches = globMatcher(glob);
      return this.#files.filter((file) => {
        if (!file.startsWith(folder)) return false;
        const path = file.slice(folder.length);
        return isData(path, glob) && matches(path);
      });
    });
    return [...new Set(found)];
  }
}

/** Names that look like numbers are numbers in YAML. */
const textOr = (value: unknown, otherwise: string): string =>
  typeof value === "string" || typeof value === "number" ? String(value) : otherwise;

/** `data_files` is a list of splits, a map of them, or files without a split. */
function declaredSplits(
  { data_files: given, data_dir: dir }: JsonFields,
  files: readonly string[],
  finder: Finder,
): Splits {
  const inside = typeof dir === "string" ? dir.replaceAll(/^(?:\.?\/)+|\/+$/gu, "") : "";
  const folder = inside === "" || inside === "." ? "" : `${inside}/`;
  if (given === undefined || given === null) return splitsByName(files, folder);
  const entries = isJsonObject(given)
    ? Object.entries(given)
    : listOf(given).map(({ split, path }) => [textOr(split, "train"), path] as const);
  if (entries.length === 0) return splitsOfList(finder.find(given, folder));
  const splits = new Map<string, readonly string[]>();
  for (const [split, globs] of entries) {
    const found = finder.find(globs, folder);
    if (found.length > 0) splits.set(split, [...(splits.get(split) ?? []), ...found]);
  }
  return splits;
}

const nameOf = ({ config_name: name }: JsonFields): string => textOr(name, "default");

/** The configurations of a README; none where it cannot be read. */
function entriesOf(readme: string | null): readonly JsonFields[] {
  const front = /^\uFEFF?---\r?\n([\s\S]*?)\r?\n---/u.exec(readme ?? "")?.[1];
  try {
    const declared = front === undefined ? null : parseYaml(front);
    return isJsonObject(declared) ? listOf(declared["configs"]) : [];
  } catch {
    return [];
  }
}

/** Those that are to be used where none is named. */
const preferredOf = (entries: readonly JsonFields[]): readonly string[] =>
  entries.filter((entry) => entry["default"] === true).map(nameOf);

/** The same files, with the default that a README declares. */
export function withDefault({ all }: Configurations, readme: string | null): Configurations {
  return configurations(all, preferredOf(entriesOf(readme)));
}

/** The repository's own files: what its README declares, or else what their names say. */
export function ownFiles(files: readonly string[], readme: string | null): Configurations {
  const entries = entriesOf(readme);
  if (entries.length === 0) {
    const splits = splitsByName(files);
    return configurations(new Map(splits.size === 0 ? [] : [["default", splits]]));
  }
  const finder = new Finder(files);
  return configurations(
    new Map(entries.map((entry) => [nameOf(entry), declaredSplits(entry, files, finder)])),
    preferredOf(entries),
  );
}

/** Names of a message: a hub may have any number. */
function listed(names: readonly string[]): string {
  const shown = names.slice(0, 20).map((name) => name.slice(0, 100));
  return shown.join(", ") + (names.length > 20 ? ` and ${names.length - 20} more` : "");
}

/** More are not rows of one run, and a hub would be asked for each. */
const mostFiles = 10_000;

/** @throws ConfigError that lists what there is, when the name fits none or several. */
export function chooseFiles(
  { all, byDefault }: Configurations,
  { hub, config = null, split = null, revision }: HubDataset,
): readonly string[] {
  const refuse = (what: string, hint: string): never => {
    throw new ConfigError({
      message: `The dataset ${hub} ${what}.`,
      hint,
      fields: { dataset: hub, config, split, ...(revision && { revision }) },
    });
  };
  const choose = <T>(
    what: string,
    from: ReadonlyMap<string, T>,
    asked: string | null,
    usual: string | null,
  ): T => {
    const found = from.get(asked ?? usual ?? "");
    if (found !== undefined) return found;
    const names = listed([...from.keys()]);
    return refuse(
      asked === null
        ? `has several ${what}s: ${names}`
        : `has no ${what} "${asked}"; it has ${names}`,
      "Name one, as in hf:OWNER/NAME/CONFIG:SPLIT.",
    );
  };
  const splits = choose("configuration", all, config, byDefault);
  if (splits.size === 0) {
    refuse(
      `declares ${config === null ? "files" : `files of "${config}"`} in its README.md, but none of them is there that can be read`,
      "Download the files that you want, and name them as dataset.train.",
    );
  }
  const files = choose("split", splits, split, splits.size === 1 ? [...splits.keys()][0]! : null);
  if (files.length > mostFiles) {
    refuse(
      `has ${files.length} files of this split, but ${mostFiles} is the limit`,
      "Download those that you want, and name them as dataset.train.",
    );
  }
  return files;
}
