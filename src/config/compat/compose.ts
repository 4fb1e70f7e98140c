/**
 * Composes a YAML file and the files that its `defaults` list names, as Hydra does: a later entry
 * overrides an earlier one, and the file itself comes where `_self_` is, else last. The only file in this
 * folder that reads from disk.
 *
 * Entries: `base` is base.yaml next to the file; `rollout: small` is rollout/small.yaml, whose options
 * belong to `rollout` unless it begins with `# @package _global_`; `group@pkg: name` puts it under pkg; `/`
 * at the start means the folder of the first file. The choice of a group is replaced by `group=name` among
 * overrides. What else Hydra has, no file of rLLM or verl uses, and it is refused.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { ConfigError } from "../../core/errors.ts";
import { checkFileSync } from "../../util/files/regular-file.ts";
import { nearestName } from "../../util/nearest-name.ts";
import { isTree, type Tree } from "../camel-keys.ts";
import { checkTree } from "../load/check-tree.ts";
import { setAt } from "../tree.ts";
import { describeYamlError, parseYaml } from "../../util/yaml-text.ts";

/** Options from one file, at their position in the tree. */
interface FileLayer {
  readonly file: string;
  readonly tree: Tree;
}

export interface ComposeOptions {
  /** What overrides those of `defaults`: group to name, `null` for no file; other keys are ignored. */
  readonly choices?: ReadonlyMap<string, string | null>;
}

export interface Composition {
  /** Later ones override earlier ones. */
  readonly layers: readonly FileLayer[];
  /** Groups that some `defaults` list names. */
  readonly groups: ReadonlySet<string>;
}

interface RawFile {
  readonly tree: Tree;
  readonly text: string;
}

/** Far more than any configuration has; a larger file is something else. */
const maxBytes = 4 * 2 ** 20;

/** What to type in place of a path that has no file. */
function otherFiles(file: string): string {
  const folder = dirname(resolve(file));
  const names = existsSync(folder)
    ? readdirSync(folder).filter((name) => /\.ya?ml$/u.test(name))
    : [];
  const nearest = nearestName(basename(file), names);
  const path = "Check the path; it is relative to the current working directory.";
  if (nearest !== undefined) return `Did you mean ${join(dirname(file), nearest)}? ${path}`;
  return names.length > 0
    ? `${path} There: ${names.slice(0, 10).join(", ")}.`
    : `${path} A project with one: agent-trainer init FOLDER`;
}

function readYaml(file: string, from?: string): RawFile {
  let text: string;
  try {
    const size = checkFileSync(file);
    if (size > maxBytes) throw new Error(`it has ${size} bytes, but ${maxBytes} is the limit`);
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new ConfigError({
      message: `The configuration file ${file} cannot be read: ${(error as Error).message}.`,
      hint: from === undefined ? otherFiles(file) : `It is named in the defaults of ${from}.`,
      cause: error,
      fields: { file, from },
    });
  }
  let tree: unknown;
  try {
    tree = parseYaml(text);
  } catch (error) {
    const { line, problem } = describeYamlError(error, text);
    throw new ConfigError({
      message: `${file}${line === undefined ? "" : `:${line}`} is not valid YAML: ${problem}.`,
      cause: error,
      fields: { file, line },
    });
  }
  if (tree === null || tree === undefined) return { tree: {}, text };
  if (!isTree(tree)) {
    throw new ConfigError({
      message: `${file} must hold a map of options; got ${Array.isArray(tree) ? "a list" : typeof tree}.`,
      fields: { file },
    });
  }
  checkTree(tree, file);
  return { tree, text };
}

/** One entry of a `defaults` list. */
interface Entry {
  /** Folder below that of the file; "" for a file next to it. */
  readonly group: string;
  readonly name: string;
  /** Where its options go; `null` if the file's header, else its group, determines it. */
  readonly target: string | null;
}

const self = "_self_";

/** The group's name among overrides. */
const groupKey = ({ group }: Entry): string => group.replace(/^\//u, "");

function badEntry(file: string, entry: unknown): ConfigError {
  return new ConfigError({
    message: `${file} has an entry in its defaults that is not valid: ${JSON.stringify(entry)}.`,
    hint: "Write - file, - group: file, - group@section: file, or - _self_.",
    fields: { file, entry },
  });
}

function readEntry(file: string, entry: unknown): Entry {
  if (typeof entry === "string") return { group: "", name: entry, target: "" };
  const pairs = isTree(entry) ? Object.entries(entry) : [];
  const [pair] = pairs;
  if (pairs.length !== 1 || pair === undefined) throw badEntry(file, entry);
  const [group = "", target = null] = pair[0].trim().split("@");
  const name = pair[1];
  if (/\s/u.test(group) || (name !== null && typeof name !== "string")) throw badEntry(file, entry);
  return { group, name: name ?? "", target };
}

const isGlobal = /^[^\S\n]*#[^\S\n]*@package[^\S\n]+_global_/mu;

/** Where a file's options go: as in the entry, else its group; `outer` is where those of the list's file go. */
function packageOf({ target, group }: Entry, text: string, outer: string): string {
  if (target === null && isGlobal.test(text)) return "";
  const inner = target ?? group.replace(/^\//u, "").replaceAll("/", ".");
  return [outer, inner].filter((part) => part !== "").join(".");
}

/** verl's own base files, which its Python package has: the backend verl composes them where verl is. */
const inPackage = new Set(["ppo_trainer", "ppo_megatron_trainer"]);

/** Maximum files in one composition; a list of a few lines could otherwise name billions. */
const maxFiles = 1000;

class Composer {
  readonly #root: string;
  readonly #choices: ReadonlyMap<string, string | null>;
  readonly groups = new Set<string>();
  readonly layers: FileLayer[] = [];
  #read = 0;

  constructor(root: string, choices: ReadonlyMap<string, string | null>) {
    this.#root = root;
    this.#choices = choices;
  }

  add(file: string, target: string, chain: readonly string[], raw: RawFile): void {
    if (chain.includes(file)) {
      throw new ConfigError({
        message: `The defaults of ${file} form a cycle: ${[...chain, file].join(" -> ")}.`,
        fields: { chain },
      });
    }
    this.#read += 1;
    if (this.#read > maxFiles) {
      throw new ConfigError({
        message: `The defaults of ${chain[0] ?? file} name more than ${maxFiles} files, counting repetitions.`,
        hint: `Check ${file}: when each file names the next one twice, their number doubles at every level.`,
        fields: { file, chain },
      });
    }
    const { defaults, ...own } = raw.tree;
    if (defaults !== undefined && !Array.isArray(defaults)) throw badEntry(file, defaults);
    const entries: unknown[] = defaults ?? [];
    const list = entries.includes(self) ? entries : [...entries, self];
    for (const entry of list) {
      if (entry === self) this.layers.push({ file, tree: placed(own, target) });
      else this.#entry(file, readEntry(file, entry), target, [...chain, file]);
    }
  }

  #entry(from: string, entry: Entry, target: string, chain: readonly string[]): void {
    const { group } = entry;
    const key = groupKey(entry);
    if (group !== "") this.groups.add(key);
    const chosen = group === "" ? entry.name : (this.#choices.get(key) ?? entry.name);
    if (chosen === "" || this.#choices.get(key) === null) return;
    const base = group.startsWith("/") ? this.#root : dirname(from);
    const path = join(base, group, /\.ya?ml$/u.test(chosen) ? chosen : `${chosen}.yaml`);
    const file = resolve(path);
    if (inPackage.has(chosen.replace(/^\//u, "")) && !existsSync(file)) return;
    const raw = readYaml(file, from);
    this.add(file, packageOf(entry, raw.text, target), chain, raw);
  }
}

function placed(tree: Tree, target: string): Tree {
  if (target === "") return tree;
  const out: Tree = {};
  setAt(out, target, tree);
  return out;
}

/**
 * Reads a file with everything that its defaults name.
 * @throws ConfigError for files that cannot be read, entries that are not valid, and cycles.
 */
export function composeFile(
  file: string,
  { choices = new Map() }: ComposeOptions = {},
): Composition {
  const composer = new Composer(dirname(resolve(file)), choices);
  composer.add(file, "", [], readYaml(file));
  return composer;
}
