/**
 * References between options, as OmegaConf writes them: `${a.b}` is the value of another option,
 * `${.b}` of a neighbour (`${..b}` one level up), `${oc.env:NAME}` and `${oc.env:NAME,default}` an
 * environment variable, `${oc.select:a.b,default}` an option that may be unset, `${now:%Y-%m-%d}` the time at
 * which the configuration is read. `\\${` is literal text.
 * A string that is one reference takes its value and type; otherwise values are inserted into the string.
 */
import { ConfigError } from "../../core/errors.ts";
import { isTree, type Tree } from "../camel-keys.ts";
import { setAt, valueAt } from "../tree.ts";
import { parseYaml } from "../../util/yaml-text.ts";

export interface InterpolationOptions {
  /** Value of an option that no layer sets; `undefined` when there is no such option. */
  readonly defaultOf: (key: string) => unknown;
  /** Whether the option takes strings, so that the value of a variable stays a string. */
  readonly isText: (key: string) => boolean;
  /** Whether a key is passed on to another program, which resolves references itself. */
  readonly isForeign: (key: string) => boolean;
  /** Whether nothing reads the value of a key, so that its references may be any. @default none */
  readonly isUnused?: (key: string) => boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The time of `${now:...}`. @default the current one */
  readonly now?: Date;
}

/** Keys whose values came from references, with the string as written. */
export type References = ReadonlyMap<string, string>;

interface Reference {
  readonly start: number;
  readonly end: number;
  readonly inner: string;
}

/** The first reference that begins at `from` or later; braces inside of it may nest. */
function findReference(text: string, from: number): Reference | null {
  for (let start = text.indexOf("${", from); start >= 0; start = text.indexOf("${", start + 2)) {
    if (text[start - 1] === "\\") continue;
    let depth = 0;
    for (let i = start + 1; i < text.length; i++) {
      if (text[i] === "{") depth++;
      if (text[i] === "}" && --depth === 0)
        return { start, end: i + 1, inner: text.slice(start + 2, i) };
    }
    return null;
  }
  return null;
}

const unescaped = (text: string): string => text.replaceAll("\\${", "${");

const digits = (value: number, length = 2): string => String(value).padStart(length, "0");

/** Directives of strftime that are numbers, in local time. */
const timeParts: Readonly<Record<string, (now: Date) => string>> = {
  Y: (now) => digits(now.getFullYear(), 4),
  y: (now) => digits(now.getFullYear() % 100),
  m: (now) => digits(now.getMonth() + 1),
  d: (now) => digits(now.getDate()),
  H: (now) => digits(now.getHours()),
  M: (now) => digits(now.getMinutes()),
  S: (now) => digits(now.getSeconds()),
  f: (now) => digits(now.getMilliseconds() * 1000, 6),
  s: (now) => String(Math.floor(now.getTime() / 1000)),
  "%": () => "%",
};

/** Maximum references of one configuration, counting repetitions. */
const mostReferences = 10_000;

class Resolver {
  readonly #tree: Tree;
  readonly #options: InterpolationOptions;
  /** Options that are being resolved, outermost first. */
  readonly #path: string[] = [];
  readonly references = new Map<string, string>();
  /** One time for all references. */
  readonly #now: Date;
  #resolved = 0;

  constructor(tree: Tree, options: InterpolationOptions) {
    this.#tree = tree;
    this.#options = options;
    this.#now = options.now ?? new Date();
  }

  walk(node: Tree, prefix: string): void {
    for (const [name, value] of Object.entries(node)) {
      const key = prefix === "" ? name : `${prefix}.${name}`;
      if (this.#options.isForeign(key)) continue;
      if (isTree(value)) this.walk(value, key);
      else if (this.#options.isUnused?.(key) !== true)
        setAt(this.#tree, key, this.#value(value, key));
    }
  }

  #value(value: unknown, key: string): unknown {
    if (Array.isArray(value)) return value.map((item) => this.#value(item, key));
    if (typeof value !== "string" || !value.includes("${")) return value;
    if (this.#path.includes(key)) {
      const path = [...this.#path, key].join(" -> ");
      throw failed(`${key} refers to itself: ${path}`, value);
    }
    this.#resolved += 1;
    if (this.#resolved > mostReferences) {
      throw failed(
        `${key} leads to more than ${mostReferences} references; options that refer to each other twice double their number at every level`,
        value,
      );
    }
    this.#path.push(key);
    const result = this.#text(value, key);
    this.#path.pop();
    this.references.set(key, value);
    return result;
  }

  #text(text: string, key: string): unknown {
    const whole = findReference(text, 0);
    if (whole !== null && whole.start === 0 && whole.end === text.length)
      return this.#look(whole.inner, key, text);
    let out = "";
    let at = 0;
    for (let found = whole; found !== null; found = findReference(text, at)) {
      const value = this.#look(found.inner, key, text);
      if (typeof value === "object" && value !== null)
        throw failed(
          `${key} inserts \${${found.inner}} into a string, but its value is a list or a map`,
          text,
        );
      out += text.slice(at, found.start) + String(value);
      at = found.end;
    }
    return unescaped(out + text.slice(at));
  }

  #look(inner: string, key: string, text: string): unknown {
    const plain = inner.includes("${") ? String(this.#text(inner, key)) : inner;
    const at = plain.indexOf(":");
    if (at < 0) return this.#option(plain.trim(), key, text);
    const name = plain.slice(0, at).trim();
    const [first = "", ...rest] = plain.slice(at + 1).split(",");
    const fallback = rest.length === 0 ? undefined : rest.join(",").trim();
    if (name === "now") return this.#time(plain.slice(at + 1), key, text);
    if (name === "oc.env") return this.#variable(first.trim(), fallback, key, text);
    if (name === "oc.select") {
      const value = this.#find(first.trim(), key);
      if (value !== undefined) return value;
      return fallback === undefined ? null : parseYaml(fallback);
    }
    throw failed(`${key} uses \${${name}:...}, which is not a supported resolver`, text);
  }

  #time(format: string, key: string, text: string): string {
    return format.replaceAll(/%(.?)/gu, (directive, letter: string) => {
      const part = timeParts[letter]?.(this.#now);
      if (part !== undefined) return part;
      throw failed(
        `${key} uses ${directive} of strftime, which is not supported; %${Object.keys(timeParts).join(", %")} are`,
        text,
      );
    });
  }

  #variable(name: string, fallback: string | undefined, key: string, text: string): unknown {
    const value = this.#options.env[name] ?? fallback;
    if (value === undefined)
      throw failed(`${key} needs the environment variable ${name}, which is not set`, text);
    return this.#options.isText(key) && value !== "null" ? value : parseYaml(value);
  }

  #option(path: string, key: string, text: string): unknown {
    const value = this.#find(path, key);
    if (value !== undefined) return value;
    throw failed(`${key} refers to ${path}, which no layer sets and which has no default`, text);
  }

  /** `undefined` if there is no such option. */
  #find(path: string, key: string): unknown {
    const dots = /^\.*/u.exec(path)?.[0].length ?? 0;
    const near = dots === 0 ? [] : key.split(".").slice(0, -dots);
    const target = [...near, path.slice(dots)].join(".").replace(/^rllm\./u, "");
    const value = valueAt(this.#tree, target);
    if (value === undefined) return this.#options.defaultOf(target);
    if (!isTree(value)) return this.#value(value, target);
    return Object.fromEntries(
      Object.entries(value).map(([name, child]) => [name, this.#value(child, `${target}.${name}`)]),
    );
  }
}

function failed(what: string, text: string): ConfigError {
  return new ConfigError({
    message: `${what}; its value is ${JSON.stringify(text)}.`,
    hint: "Write ${a.b} for an option, ${oc.env:NAME,default} for a variable, ${now:%Y-%m-%d} for the date, \\${ for a literal ${.",
    fields: { text },
  });
}

/**
 * Replaces references by their values, in place.
 * @throws ConfigError for references that cannot be resolved, and for cycles.
 */
export function interpolate(tree: Tree, options: InterpolationOptions): References {
  const resolver = new Resolver(tree, options);
  resolver.walk(tree, "");
  return resolver.references;
}
