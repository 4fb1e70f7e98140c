/**
 * References between options, as the files of rLLM and verl have them: `${a.b}` is the value of another
 * option, `${.b}` of a neighbour, `${oc.select:a.b,default}` of an option that may be unset. `\\${` is
 * literal text. A string that is one reference takes its value and type; otherwise values are inserted into
 * the string.
 */
import { ConfigError } from "../../core/errors.ts";
import { isTree, type Tree } from "../camel-keys.ts";
import { setAt, valueAt } from "../tree.ts";
import { parseYaml } from "../../util/yaml-text.ts";

export interface InterpolationOptions {
  /** Value of an option that no layer sets; `undefined` when there is no such option. */
  readonly defaultOf: (key: string) => unknown;
  /** Whether a key is passed on to another program, which resolves references itself. */
  readonly isForeign: (key: string) => boolean;
  /** Whether nothing reads the value of a key, so that its references may be any. @default none */
  readonly isUnused?: (key: string) => boolean;
}

/** Keys whose values came from references, with the string as written. */
export type References = ReadonlyMap<string, string>;

/** A reference, which may be left open. Others may not be inside of it. */
const reference = /(?<!\\)\$\{(?<inner>[^{}]*)(?<end>\}?)/gu;

const unescaped = (text: string): string => text.replaceAll("\\${", "${");

/** Maximum references of one configuration, counting repetitions. */
const maxReferences = 10_000;

class Resolver {
  readonly #tree: Tree;
  readonly #options: InterpolationOptions;
  /** Options that are being resolved, outermost first. */
  readonly #path: string[] = [];
  readonly references = new Map<string, string>();
  #resolved = 0;

  constructor(tree: Tree, options: InterpolationOptions) {
    this.#tree = tree;
    this.#options = options;
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
    if (this.#resolved > maxReferences) {
      throw failed(
        `${key} leads to more than ${maxReferences} references; options that refer to each other twice double their number at every level`,
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
    const found = [...text.matchAll(reference)];
    for (const { groups } of found) {
      if (groups?.["end"] === "")
        throw failed(`${key} has a reference that is not closed, or has another one inside`, text);
    }
    const [first] = found;
    if (first?.[0] === text) return this.#look(first.groups?.["inner"] as string, key, text);
    const inserted = text.replaceAll(reference, (_, inner: string) => {
      const value = this.#look(inner, key, text);
      if (typeof value !== "object" || value === null) return String(value);
      throw failed(
        `${key} inserts \${${inner}} into a string, but its value is a list or a map`,
        text,
      );
    });
    return unescaped(inserted);
  }

  #look(inner: string, key: string, text: string): unknown {
    const [, name, rest = ""] = /^([^:]*):(.*)$/u.exec(inner) ?? [];
    if (name === undefined) return this.#option(inner.trim(), key, text);
    if (name.trim() !== "oc.select")
      throw failed(`${key} uses \${${name.trim()}:...}, which is not a supported resolver`, text);
    const [path = "", ...fallback] = rest.split(",");
    const value = this.#find(path.trim(), key);
    if (value !== undefined) return value;
    return fallback.length === 0 ? null : parseYaml(fallback.join(",").trim());
  }

  #option(path: string, key: string, text: string): unknown {
    const value = this.#find(path, key);
    if (value !== undefined) return value;
    throw failed(`${key} refers to ${path}, which no layer sets and which has no default`, text);
  }

  /** `undefined` if there is no such option. */
  #find(path: string, key: string): unknown {
    const section = key.slice(0, key.lastIndexOf(".") + 1);
    const full = path.startsWith(".") ? section + path.slice(1) : path;
    const target = full.replace(/^rllm\./u, "");
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
    hint: "Write ${a.b} for an option, ${.b} for a neighbour, ${oc.select:a.b,default} for one that may be unset, \\${ for a literal ${. Values of the environment go on the command line: key=$NAME.",
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
