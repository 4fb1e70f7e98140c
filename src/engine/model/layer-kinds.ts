/** Position encoding and window of every layer, from a configuration. */
import type { Family } from "./families.ts";
import type { LayerKind } from "./model-config.ts";
import { ropeSettings, ropeTable, type RopeSettings, type RopeTable } from "./rope.ts";

type Raw = Readonly<Record<string, unknown>>;

/** Layers of the same kind share one object. */
export interface LayerKinds {
  readonly layerKinds: readonly LayerKind[];
  /** Positions that all of their encodings are for. */
  readonly positions: number;
}

/** @param refuse called with what is not supported. */
export function readLayerKinds(
  family: Family,
  raw: Raw,
  { layers, headSize, longest }: { layers: number; headSize: number; longest: number },
  refuse: (what: string) => never,
): LayerKinds {
  const settings = ropesOf(family, raw, refuse);
  const window = windowOf(family, raw, refuse);
  const tables = new Map<string, RopeTable>();
  const kinds = new Map<string, LayerKind>();
  const layerKinds = Array.from({ length: layers }, (_, layer) => {
    const { windowed, rope } = family.layer(raw, layer);
    const key = `${windowed} ${rope}`;
    if (rope !== "none" && !tables.has(rope))
      tables.set(rope, ropeTable(settings[rope], headSize, refuse));
    // A window that no sequence leaves is none.
    const limit = windowed && window !== null && window < longest ? window : null;
    const kind = kinds.get(key) ?? { rope: tables.get(rope) ?? null, window: limit };
    kinds.set(key, kind);
    return kind;
  });
  const limits = Array.from(tables.values(), ({ positions }) => positions);
  return { layerKinds, positions: Math.min(...limits) };
}

function windowOf(family: Family, raw: Raw, refuse: (what: string) => never): number | null {
  const { sliding_window: window = family.defaults.window } = raw;
  if (window === null) return null;
  if (typeof window === "number" && Number.isInteger(window) && window >= 1) return window;
  return refuse(`"sliding_window" is ${JSON.stringify(window)}, but must be a positive integer`);
}

/** Gemma 3 has two encodings: under one key each in transformers 5, by separate keys before. */
function ropesOf(
  { defaults }: Family,
  raw: Raw,
  refuse: (what: string) => never,
): Readonly<Record<"global" | "local", RopeSettings>> {
  const parameters = (raw["rope_parameters"] ?? {}) as Raw;
  const nested = (key: string): Raw | undefined => parameters[key] as Raw | undefined;
  const full = nested("full_attention");
  const global = full === undefined ? raw : { ...raw, rope_parameters: full };
  const localTheta = raw["rope_local_base_freq"] ?? 10_000;
  const local = {
    ...raw,
    rope_theta: undefined,
    rope_scaling: undefined,
    rope_parameters: { rope_theta: localTheta, ...nested("sliding_attention") },
  };
  return {
    global: ropeSettings(global, defaults.theta, refuse),
    local: ropeSettings(local, defaults.theta, refuse),
  };
}
