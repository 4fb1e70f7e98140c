/**
 * Merges layers of options into one tree with our keys: a later layer wins, references between options
 * are resolved, and keys of other trainers are translated. Records where each value came from.
 */
import { isTree, type Tree } from "../camel-keys.ts";
import { configFields, typeFields } from "../fields.ts";
import { interpolate } from "../compat/interpolation.ts";
import {
  type Fields,
  isIdle,
  isWholeValue,
  plainKey,
  targetsOf,
  translate,
  type Written,
} from "../compat/translate.ts";
import { compatValues } from "../compat/compat-keys.ts";
import { deleteAt, leaves, setAt, valueAt } from "../tree.ts";

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

/** Where a value came from. */
export interface ConfigOrigin {
  readonly source: ConfigSource;
  /** `default`, or the layer's label with the name and the reference under which the value was written. */
  readonly text: string;
}

export interface ResolvedLayers {
  readonly tree: Tree;
  /** All options. */
  readonly origins: ReadonlyMap<string, ConfigOrigin>;
  /** Warnings about options without an effect. */
  readonly warnings: readonly string[];
  /** Our keys that were written under another name, with it. */
  readonly names: ReadonlyMap<string, string>;
}

/** A value of OmegaConf that says only that something is missing. */
const missing = "???";

/** The command line, all of whose overrides belong together; files are counted from 0. */
const commandLine = Number.MAX_SAFE_INTEGER;

/** Where the effective value was written. */
type Owner = Omit<Written, "value">;

/** @throws ConfigError for references that cannot be resolved and keys that are not supported. */
export function resolveLayers(layers: readonly Layer[]): ResolvedLayers {
  const known: Fields = new Map(configFields().map((field) => [field.key, field]));
  const merged: Tree = {};
  const owners = new Map<string, Owner>();
  const types = new Map([...typeFields()].map(([key, field]) => [key, field.default]));
  /** Another type begins with its own defaults: what earlier layers said of the former one is dropped. */
  const chooseType = (key: string, value: unknown, source: number): void => {
    const option = key.replace(/\.type$/u, "");
    const type = compatValues[key]?.(value) ?? value;
    if (option === key || !types.has(option) || typeof type !== "string") return;
    if (types.get(option) === type) return;
    types.set(option, type);
    for (const [name, owner] of owners) {
      if (known.get(name)?.variant?.of !== option || owner.source >= source) continue;
      deleteAt(merged, name);
      owners.delete(name);
    }
  };
  for (const [layer, { source: kind, tree, removed = [] }] of layers.entries()) {
    const source = kind === "file" ? layer : commandLine;
    for (const [written, value] of leaves(tree, (key) => isWholeValue(key, known))) {
      if (value === missing) continue;
      // `loss: ppo` is short for `loss: { type: ppo }`.
      const path = types.has(plainKey(written)) ? `${written}.type` : written;
      const key = plainKey(path);
      for (const target of targetsOf(key, known)) chooseType(target, value, source);
      if (!isTree(value)) deleteAt(merged, key);
      setAt(merged, key, value);
      owners.set(key, { path, layer, source });
    }
    for (const key of removed.map(plainKey)) {
      remove(merged, owners, key, known);
      for (const [option, field] of typeFields()) {
        if (targetsOf(key, known).some((name) => `${field.key}.`.startsWith(`${name}.`)))
          types.set(option, field.default);
      }
    }
  }
  const references = interpolate(merged, {
    defaultOf: (key) => targetsOf(key, known).map((target) => known.get(target)?.default)[0],
    isUnused: (key) => isIdle(key, known),
    isForeign: (key) =>
      key === "verl.config" ||
      (key.startsWith("actor_rollout_ref.") && targetsOf(key, known)[0] === key),
  });
  const written = [...owners].flatMap(([key, owner]): Written[] => {
    const value = valueAt(merged, key);
    return value === undefined ? [] : [{ ...owner, value }];
  });
  const { tree, origins, warnings } = translate(written, known);
  const history = { layers, origins, references };
  const others = [...origins].filter(([key, { path }]) => plainKey(path) !== key);
  return {
    tree,
    warnings,
    names: new Map(others.map(([key, { path }]) => [key, path])),
    origins: new Map([...known.keys()].map((key) => [key, originOf(key, history)])),
  };
}

/** Removes a key under any name it was written with. */
function remove(merged: Tree, owners: Map<string, Owner>, key: string, known: Fields): void {
  const isBelow = (other: string): boolean => other === key || other.startsWith(`${key}.`);
  for (const written of owners.keys()) {
    if (!isBelow(written) && !targetsOf(written, known).some(isBelow)) continue;
    deleteAt(merged, written);
    owners.delete(written);
  }
}

interface History {
  readonly layers: readonly Layer[];
  readonly origins: ReadonlyMap<string, Written>;
  readonly references: ReadonlyMap<string, string>;
}

function originOf(key: string, { layers, origins, references }: History): ConfigOrigin {
  const below = [...origins].findLast(([other]) => other.startsWith(`${key}.`))?.[1];
  const written = origins.get(key) ?? below;
  const layer = written === undefined ? undefined : layers[written.layer];
  if (written === undefined || layer === undefined) return { source: "default", text: "default" };
  const reference = references.get(plainKey(written.path));
  const parts = [
    layer.label,
    ...(written.path === key ? [] : [`as ${written.path}`]),
    ...(reference === undefined ? [] : [`from ${reference}`]),
  ];
  return { source: layer.source, text: parts.join(", ") };
}
