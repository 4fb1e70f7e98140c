/** Translates options with keys of rLLM and verl to ours (`compat-keys.ts`). */
import { ConfigError } from "../../core/errors.ts";
import type { Tree } from "../camel-keys.ts";
import {
  type CompatKey,
  compatKeys,
  compatValues,
  rllmValues,
  unset,
  verlOwn,
} from "./compat-keys.ts";
import { setAt, valueAt } from "../tree.ts";

/** A value as it was written. */
export interface Written {
  /** The dotted key, as it was written. */
  readonly path: string;
  readonly value: unknown;
  /** Index of the layer; later layers have higher numbers. */
  readonly layer: number;
}

export interface Translation {
  readonly tree: Tree;
  /** Our keys that some layer sets, and what set them. */
  readonly origins: ReadonlyMap<string, Written>;
  /** Warnings about options without an effect. */
  readonly warnings: readonly string[];
}

const exact = new Map(compatKeys.map((key) => [key.from, key]));
const sections = compatKeys.filter(({ from }) => from.endsWith(".*"));

/** `path` without `rllm.` before it. */
export const plainKey = (path: string): string => path.replace(/^rllm\./u, "");

/** The table entry of a key that is not ours. */
export function compatKey(path: string): CompatKey | undefined {
  const name = plainKey(path);
  return exact.get(name) ?? sections.find(({ from }) => name.startsWith(from.slice(0, -1)));
}

/** Our keys that a written key sets. */
export function targetsOf(path: string, known: ReadonlySet<string>): readonly string[] {
  const name = plainKey(path);
  const entry = known.has(name) ? undefined : compatKey(name);
  if (entry === undefined || !("to" in entry)) return [name];
  return typeof entry.to === "string" ? [entry.to] : entry.to;
}

/** Whether a map at this key is one value, and not a section. */
export function isWholeValue(path: string, known: ReadonlySet<string>): boolean {
  const name = plainKey(path);
  return known.has(name) && !sections.some(({ from }) => from.startsWith(`${name}.`));
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

function isAllowed(value: unknown, only: readonly unknown[]): boolean {
  const listed = Array.isArray(value) ? (value as unknown[]) : [value];
  return listed.every((item) => only.some((allowed) => same(allowed, item)));
}

/** The error message for a key of another trainer whose value is not supported. */
function refusal({ path, value }: Written, only: readonly unknown[], why: string): string {
  const taken = only.map((allowed) => JSON.stringify(allowed)).join(" or ");
  return `${path}=${JSON.stringify(value)} is not supported: ${why}. It must be ${taken}.`;
}

class Translator {
  readonly tree: Tree = {};
  readonly origins = new Map<string, Written>();
  readonly warnings: string[] = [];
  readonly problems: string[] = [];
  readonly #known: ReadonlySet<string>;
  readonly #backend: string;

  constructor(known: ReadonlySet<string>, backend: string) {
    this.#known = known;
    this.#backend = backend;
  }

  read(written: Written): void {
    const { path, value } = written;
    const name = plainKey(path);
    const entry = this.#known.has(name) ? undefined : compatKey(name);
    if (entry === undefined) {
      this.#own(name, written);
    } else if ("idle" in entry) {
      this.warnings.push(`${path} has no effect: ${entry.idle}.`);
    } else if ("only" in entry) {
      const own = entry.on?.[this.#backend];
      if (own !== undefined) this.#set(own, value ?? unset, written);
      else if (!isAllowed(value, entry.only))
        this.problems.push(refusal(written, entry.only, entry.why));
    } else {
      const ours = entry.read === undefined ? (value ?? unset) : entry.read(value);
      for (const target of targetsOf(path, this.#known)) this.#set(target, ours, written);
    }
  }

  /** A key that is ours or unknown; with `rllm.` before it, its meaning may differ. */
  #own(name: string, written: Written): void {
    const { path, value } = written;
    const read = path === name ? undefined : rllmValues[name];
    const isVerls = !this.#known.has(name) && name.startsWith(verlOwn);
    const key = isVerls ? `verl.config.${name}` : name;
    this.#set(key, read === undefined ? value : read(value), written);
  }

  #set(key: string, given: unknown, written: Written): void {
    const read = compatValues[key];
    const value = given === unset || read === undefined ? given : read(given);
    if (value === unset) return;
    const earlier = this.origins.get(key);
    if (earlier !== undefined && earlier.layer === written.layer) {
      // Our own key wins over a key of another trainer that sets several.
      if (plainKey(earlier.path) === key) return;
      const isOwn = plainKey(written.path) === key;
      if (!isOwn && !same(valueAt(this.tree, key), value)) {
        this.problems.push(
          `${earlier.path} and ${written.path} both set ${key}, but to different values: ${JSON.stringify(earlier.value)} and ${JSON.stringify(written.value)}. Set only one of them.`,
        );
        return;
      }
    }
    setAt(this.tree, key, value);
    this.origins.set(key, written);
  }
}

/**
 * @param known our keys.
 * @throws ConfigError that names every key that is not supported, with the reason.
 */
export function translate(written: readonly Written[], known: ReadonlySet<string>): Translation {
  const inOrder = [...written].sort((a, b) => a.layer - b.layer);
  const backend = inOrder.findLast(({ path }) => plainKey(path) === "backend")?.value;
  const translator = new Translator(known, typeof backend === "string" ? backend : "local");
  for (const one of inOrder) translator.read(one);
  const { problems } = translator;
  if (problems.length === 0) return translator;
  throw new ConfigError({
    message:
      problems.length === 1
        ? (problems[0] as string)
        : `The configuration has ${problems.length} problems:\n${problems.map((line) => `- ${line}`).join("\n")}`,
    fields: { problems },
  });
}
