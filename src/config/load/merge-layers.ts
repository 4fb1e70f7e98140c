/** Merges layers of options into one tree, under the names that they were written with: a later one wins. */
import { isTree, type Tree } from "../camel-keys.ts";
import { compatValues } from "../compat/compat-keys.ts";
import { isWholeValue, plainKey, targetsOf } from "../compat/translate.ts";
import type { Fields, Written } from "../compat/written.ts";
import { typeFields } from "../option-types.ts";
import { deleteAt, leaves, setAt } from "../tree.ts";

/** The kind of layer that a value came from. */
export type ConfigSource = "default" | "file" | "override";

export interface Layer {
  readonly source: Exclude<ConfigSource, "default">;
  /** For messages: which file, or how it was given. */
  readonly label: string;
  readonly tree: Tree;
  /** Keys that are reset to their default. */
  readonly removed?: readonly string[];
}

/** Where the effective value was written. */
type Owner = Omit<Written, "value">;

export interface MergedLayers {
  readonly tree: Tree;
  /** By the key that was written, without `rllm.` before it. */
  readonly owners: ReadonlyMap<string, Owner>;
}

/** A value of OmegaConf that says only that something is missing. */
const missing = "???";

/** The command line, all of whose overrides belong together; files are counted from 0. */
const commandLine = Number.MAX_SAFE_INTEGER;

class Merger {
  readonly tree: Tree = {};
  readonly owners = new Map<string, Owner>();
  readonly #known: Fields;
  /** The types that were chosen so far. */
  readonly #types = new Map([...typeFields()].map(([key, field]) => [key, field.default]));

  constructor(known: Fields) {
    this.#known = known;
  }

  add({ source: kind, tree, removed = [] }: Layer, layer: number): void {
    const source = kind === "file" ? layer : commandLine;
    for (const [written, value] of leaves(tree, (key) => isWholeValue(key, this.#known))) {
      if (value === missing) continue;
      // `loss: ppo` is short for `loss: { type: ppo }`.
      const path = this.#types.has(plainKey(written)) ? `${written}.type` : written;
      const key = plainKey(path);
      for (const target of targetsOf(key, this.#known)) this.#choose(target, value, source);
      if (!isTree(value)) deleteAt(this.tree, key);
      setAt(this.tree, key, value);
      this.owners.set(key, { path, layer, source });
    }
    for (const key of removed.map(plainKey)) this.#remove(key);
  }

  /** Another type begins with its own defaults: what earlier layers said of the former one is dropped. */
  #choose(key: string, value: unknown, source: number): void {
    const option = key.replace(/\.type$/u, "");
    const type = compatValues[key]?.(value) ?? value;
    if (option === key || !this.#types.has(option) || typeof type !== "string") return;
    if (this.#types.get(option) === type) return;
    this.#types.set(option, type);
    for (const [name, owner] of this.owners) {
      if (this.#known.get(name)?.variant?.of !== option || owner.source >= source) continue;
      deleteAt(this.tree, name);
      this.owners.delete(name);
    }
  }

  /** Removes a key under any name it was written with. */
  #remove(key: string): void {
    const isBelow = (other: string): boolean => other === key || other.startsWith(`${key}.`);
    for (const written of this.owners.keys()) {
      if (!isBelow(written) && !targetsOf(written, this.#known).some(isBelow)) continue;
      deleteAt(this.tree, written);
      this.owners.delete(written);
    }
    const targets = targetsOf(key, this.#known);
    for (const [option, field] of typeFields()) {
      if (targets.some((name) => `${field.key}.`.startsWith(`${name}.`)))
        this.#types.set(option, field.default);
    }
  }
}

/** @param known our options. */
export function mergeLayers(layers: readonly Layer[], known: Fields): MergedLayers {
  const merger = new Merger(known);
  for (const [i, layer] of layers.entries()) merger.add(layer, i);
  return merger;
}
