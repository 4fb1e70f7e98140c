/**
 * Translates options with keys of rLLM and verl to ours (`compat-keys.ts`), and says which of them have no
 * effect.
 */
import { ConfigError } from "../../core/errors.ts";
import type { Tree } from "../camel-keys.ts";
import { setAt, valueAt } from "../tree.ts";
import { compatKeys, compatValues, rllmValues } from "./compat-keys.ts";
import {
  type CompatKey,
  type Fixed,
  type Idle,
  type Look,
  type Renamed,
  unset,
} from "./keys/key-kinds.ts";
import { filteringOf } from "./compact-filtering.ts";
import { settleTypes } from "./settle-types.ts";
import { verlOwn } from "./keys/verl-actor-keys.ts";
import type { Fields, Written } from "./written.ts";

export interface Translation {
  readonly tree: Tree;
  /** Our keys that some layer sets, and what set them. */
  readonly origins: ReadonlyMap<string, Written>;
  /** Notices about options without an effect. */
  readonly warnings: readonly string[];
}

const exact = new Map(compatKeys.map((key) => [key.from, key]));
const sections = compatKeys.filter(({ from }) => from.endsWith("*"));

/** `path` without `rllm.` before it. */
export const plainKey = (path: string): string => path.replace(/^rllm\./u, "");

/** The table entry of a key that is not ours. */
export function compatKey(path: string): CompatKey | undefined {
  const name = plainKey(path);
  return exact.get(name) ?? sections.find(({ from }) => name.startsWith(from.slice(0, -1)));
}

type Names = Pick<ReadonlySet<string>, "has">;

/** Whether a written key changes nothing here, whatever its value. */
export function isIdle(path: string, known: Names): boolean {
  const name = plainKey(path);
  const entry = known.has(name) ? undefined : compatKey(name);
  return entry !== undefined && "idle" in entry;
}

/** Our keys that a written key sets. */
export function targetsOf(path: string, known: Names): readonly string[] {
  const name = plainKey(path);
  const entry = known.has(name) ? undefined : compatKey(name);
  if (entry === undefined || !("to" in entry)) return [name];
  return [entry.to].flat();
}

const hasKeysBelow = (name: string): boolean =>
  compatKeys.some(({ from }) => from.startsWith(`${name}.`));

/** Whether a map at this key is one value, and not a section. */
export function isWholeValue(path: string, known: Names): boolean {
  const name = plainKey(path);
  const isOption = targetsOf(name, known).every((target) => known.has(target));
  return isOption && !hasKeysBelow(name);
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

function isAllowed(value: unknown, only: readonly unknown[]): boolean {
  const listed = Array.isArray(value) ? (value as unknown[]) : [value];
  return listed.every((item) => only.some((allowed) => same(allowed, item)));
}

const refusal = ({ path, value }: Written, why: string): string =>
  `${path}=${JSON.stringify(value)} is not supported: ${why}.`;

const isNothing = (value: unknown): boolean =>
  value === null || value === "" || (Array.isArray(value) && value.length === 0);

/** What kind of name set an option: its own, another one, or one that yields to others or follows them. */
type Strength = "own" | "other" | "weak" | "last";

class Translator {
  readonly tree: Tree = {};
  readonly origins = new Map<string, Written>();
  readonly problems: string[] = [];
  /** Names of options without an effect, by the reason. */
  readonly idle = new Map<string, string[]>();
  readonly #gathered = new Map<string, Written>();
  readonly #strengths = new Map<string, Strength>();
  readonly #fields: Fields;
  readonly #backend: string;

  constructor(fields: Fields, backend: string) {
    this.#fields = fields;
    this.#backend = backend;
  }

  readonly #look: Look = Object.assign(
    (key: string): unknown => valueAt(this.tree, key) ?? this.#fields.get(key)?.default,
    { given: (key: string): unknown => valueAt(this.tree, key) },
  );

  /** Whether it is read after all others, since its meaning depends on them. */
  isLast({ path }: Written): boolean {
    const name = plainKey(path);
    if (this.#fields.has(name)) return path !== name && Object.hasOwn(rllmValues, name);
    const entry = compatKey(name);
    return entry !== undefined && "to" in entry && entry.last === true;
  }

  read(written: Written): void {
    const name = plainKey(written.path);
    const entry = this.#fields.has(name) ? undefined : compatKey(name);
    if (entry === undefined) return this.#own(name, written);
    if ("idle" in entry) return this.#idle(entry, written);
    const ours = entry.on?.[this.#backend];
    if (ours !== undefined) return this.#set(ours, written.value ?? unset, written, "other");
    if ("only" in entry) return this.#fixed(entry, written);
    if (entry.gathered === true) return void this.#gathered.set(name, written);
    this.#renamed(entry, written);
  }

  /** Keys that are one option only together. */
  readGathered(): void {
    const given = new Map([...this.#gathered].map(([key, { value }]) => [key, value]));
    const { reasons, idle, problems } = filteringOf(given);
    this.problems.push(...problems);
    for (const key of idle) this.#note(key, "compact_filtering.enable is not true");
    const written = this.#gathered.get("compact_filtering.enable");
    const [key] = targetsOf("compact_filtering.enable", this.#fields);
    if (reasons === null || written === undefined || key === undefined) return;
    this.#set(key, reasons, written, "weak");
  }

  #idle({ idle, usual = [] }: Idle, { path, value }: Written): void {
    if (usual === "any" || isNothing(value) || usual.some((one) => same(one, value))) return;
    this.#note(path, idle);
  }

  #fixed({ only, noted = [], onlyOn, why }: Fixed, written: Written): void {
    const { path, value } = written;
    const allowed = onlyOn?.[this.#backend] ?? only;
    if (isAllowed(value, [...allowed, null])) return;
    if (isAllowed(value, noted)) return this.#note(path, why);
    const taken = [...allowed, ...noted].map((one) => JSON.stringify(one)).join(" or ");
    this.problems.push(`${refusal(written, why)} It must be ${taken}.`);
  }

  #renamed({ to, read, each, weak, last, note, refuse }: Renamed, written: Written): void {
    const { path, value } = written;
    const why = refuse?.(value, this.#look);
    if (why !== undefined) return void this.problems.push(refusal(written, why));
    const notice = note?.(value);
    if (notice !== undefined) this.#note(`${notice.part} in ${path}`, notice.why);
    const ours = read === undefined ? (value ?? unset) : read(value, this.#look);
    const strength = weak === true ? "weak" : last === true ? "last" : "other";
    for (const [i, target] of [to].flat().entries()) {
      const one = each === true && Array.isArray(ours) ? ((ours as unknown[])[i] ?? unset) : ours;
      this.#set(target, one, written, strength);
    }
  }

  /** A key that is ours or unknown; with `rllm.` before it, its meaning may differ. */
  #own(name: string, written: Written): void {
    const { path, value } = written;
    const read = path === name ? undefined : rllmValues[name];
    const isVerls = !this.#fields.has(name) && name.startsWith(verlOwn);
    const key = isVerls ? `verl.config.${name}` : name;
    this.#set(key, read === undefined ? value : read(value, this.#look), written, "own");
  }

  #note(path: string, why: string): void {
    this.idle.set(why, [...(this.idle.get(why) ?? []), path]);
  }

  #set(key: string, given: unknown, written: Written, strength: Strength): void {
    const read = compatValues[key];
    const value = given === unset || read === undefined ? given : read(given);
    if (value === unset) return;
    // As in rLLM, null is not given; only some options take it as a value.
    if (value === null && this.#fields.get(key)?.isNullable === false) return;
    const earlier = this.origins.get(key);
    if (earlier !== undefined) {
      const isSame = same(valueAt(this.tree, key), value);
      if (!this.#replaces(key, earlier, written, { strength, isSame })) return;
    }
    setAt(this.tree, key, value);
    this.origins.set(key, written);
    this.#strengths.set(key, strength);
  }

  #replaces(
    key: string,
    earlier: Written,
    now: Written,
    { strength, isSame }: { readonly strength: Strength; readonly isSame: boolean },
  ): boolean {
    const before = this.#strengths.get(key) ?? "other";
    if (strength === "last") {
      if (before !== "own") return true;
      if (earlier.source === now.source && !isSame) this.#contradict(key, earlier, now);
      return earlier.source < now.source;
    }
    if (before === "weak" || strength === "weak") {
      return strength !== "weak" || earlier.source !== now.source;
    }
    if (earlier.layer !== now.layer) return true;
    // Our own key wins over a key of another trainer.
    if (before === "own" || strength === "own") return strength === "own";
    if (!isSame) this.#contradict(key, earlier, now);
    return false;
  }

  #contradict(key: string, { path, value }: Written, now: Written): void {
    this.problems.push(
      `${path} and ${now.path} both set ${key}, but to different values: ${JSON.stringify(value)} and ${JSON.stringify(now.value)}. Set only one of them.`,
    );
  }
}

/** One notice for all options without an effect. */
function idleNotice(idle: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const reasons = [...idle];
  const [first] = reasons;
  if (first === undefined) return [];
  const [why, paths] = first;
  if (reasons.length === 1 && paths.length === 1) return [`${paths[0]} has no effect: ${why}.`];
  const parts = reasons.map(([reason, names]) => `${names.join(", ")} (${reason})`);
  return [`These options have no effect: ${parts.join("; ")}.`];
}

/**
 * @param fields our options.
 * @throws ConfigError that names every key that is not supported, with the reason.
 */
export function translate(written: readonly Written[], fields: Fields): Translation {
  const inOrder = [...written].sort((a, b) => a.layer - b.layer);
  const backend = inOrder.findLast(({ path }) => plainKey(path) === "backend")?.value;
  const name = compatValues["backend"]?.(backend);
  const chosen = typeof name === "string" ? name : "local";
  const translator = new Translator(fields, chosen);
  const isLast = (one: Written): boolean => translator.isLast(one);
  for (const one of inOrder) if (!isLast(one)) translator.read(one);
  for (const one of inOrder) if (isLast(one)) translator.read(one);
  translator.readGathered();
  const { tree, origins, problems, idle } = translator;
  const ofOtherTypes = settleTypes(tree, origins, fields, chosen);
  if (problems.length === 0) {
    return { tree, origins, warnings: [...idleNotice(idle), ...ofOtherTypes] };
  }
  throw new ConfigError({
    message:
      problems.length === 1
        ? (problems[0] as string)
        : `The configuration has ${problems.length} problems:\n${problems.map((line) => `- ${line}`).join("\n")}`,
    fields: { problems },
  });
}
