/**
 * Resolves layers of options to one tree with our keys: they are merged, references between options are
 * resolved, and keys of other trainers are translated. Records where each value came from.
 */
import type { Tree } from "../camel-keys.ts";
import { interpolate } from "../compat/interpolation.ts";
import { isIdle, plainKey, targetsOf, translate } from "../compat/translate.ts";
import type { Fields, Written } from "../compat/written.ts";
import { configFields } from "../fields.ts";
import { valueAt } from "../tree.ts";
import { type ConfigSource, type Layer, mergeLayers } from "./merge-layers.ts";

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

/** @throws ConfigError for references that cannot be resolved and keys that are not supported. */
export function resolveLayers(layers: readonly Layer[]): ResolvedLayers {
  const known: Fields = new Map(configFields().map((field) => [field.key, field]));
  const { tree: merged, owners } = mergeLayers(layers, known);
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
