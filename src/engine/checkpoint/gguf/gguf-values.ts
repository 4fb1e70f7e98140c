/** A model's configuration as the metadata of a GGUF file. */
import { ModelError } from "../../../core/errors.ts";
import type { ModelConfig } from "../../model/model-config.ts";
import { parseModelConfig } from "../../model/parse-config.ts";
import type { RopeTable } from "../../model/rope.ts";
import type { ModelSource } from "../model-source.ts";
import { ggufModelConfig } from "./gguf-config.ts";
import { ropeTensors } from "./gguf-rope.ts";
import type { GgufValue, GgufValues } from "./gguf-writer.ts";

function scalingOf({ config }: ModelSource): Readonly<Record<string, unknown>> {
  const parameters = (config["rope_parameters"] ?? {}) as Readonly<Record<string, unknown>>;
  const scaling = config["rope_scaling"] ?? parameters["full_attention"] ?? parameters;
  return scaling as Readonly<Record<string, unknown>>;
}

function ropeKind(source: ModelSource): unknown {
  const scaling = scalingOf(source);
  return scaling["rope_type"] ?? scaling["type"] ?? "default";
}

/** The encoding of layers with a window, or of those without. */
function ropeOf({ layerKinds }: ModelConfig, windowed: boolean): RopeTable | undefined {
  return layerKinds.find(({ rope, window }) => rope !== null && (window !== null) === windowed)
    ?.rope as RopeTable | undefined;
}

/** What llama.cpp divides each pair's frequency by, as tensors; none where the metadata says it. */
export function ropeFactors(
  source: ModelSource,
  config: ModelConfig,
): ReadonlyMap<string, Float32Array> {
  const scaling = scalingOf(source);
  switch (ropeKind(source)) {
    case "llama3": {
      const { theta, frequencies } = ropeOf(config, false)!;
      const plain = (i: number): number => theta ** (-i / frequencies.length);
      const factors = Float32Array.from(frequencies, (frequency, i) => plain(i) / frequency);
      return new Map([[ropeTensors.llama3, factors]]);
    }
    case "su":
    case "longrope":
      return new Map([
        [ropeTensors.long, Float32Array.from(scaling["long_factor"] as readonly number[])],
        [ropeTensors.short, Float32Array.from(scaling["short_factor"] as readonly number[])],
      ]);
    default:
      return new Map();
  }
}

/** Without those of the file and of the tokenizer. */
export function modelValues(
  source: ModelSource,
  config: ModelConfig,
  architecture: string,
): GgufValues {
  const window = config.layerKinds.find((kind) => kind.window !== null)?.window ?? 0;
  const [everywhere, local] = [ropeOf(config, false), ropeOf(config, true)];
  const rope = (everywhere ?? local)!;
  const own: Record<string, GgufValue> = {
    context_length: { uint32: Number(source.config["max_position_embeddings"]) },
    embedding_length: { uint32: config.hiddenSize },
    block_count: { uint32: config.layers },
    feed_forward_length: { uint32: config.ffnSize },
    "attention.head_count": { uint32: config.heads },
    "attention.head_count_kv": { uint32: config.kvHeads },
    "attention.key_length": { uint32: config.headSize },
    "attention.value_length": { uint32: config.headSize },
    "attention.layer_norm_rms_epsilon": { float32: config.normEpsilon },
    "rope.dimension_count": { uint32: 2 * rope.frequencies.length },
    "rope.freq_base": { float32: rope.theta },
    vocab_size: { uint32: config.vocabSize },
  };
  if (ropeKind(source) === "linear") {
    own["rope.scaling.type"] = "linear";
    own["rope.scaling.factor"] = { float32: Number(scalingOf(source)["factor"]) };
  }
  if (architecture === "gemma3" && local !== undefined)
    own["rope.freq_base_swa"] = { float32: local.theta };
  if (architecture === "gemma3" || architecture === "phi3")
    own["attention.sliding_window"] = { uint32: window };
  if (architecture === "phi3") {
    const original = Number.isFinite(rope.positions) ? rope.positions : config.contextLength;
    own["rope.scaling.original_context_length"] = { uint32: original };
    if (Number.isFinite(rope.positions))
      own["rope.scaling.attn_factor"] = { float32: rope.attentionFactor };
  }
  return new Map<string, GgufValue>([
    ["general.architecture", architecture],
    ...Object.entries(own).map(([key, value]) => [`${architecture}.${key}`, value] as const),
  ]);
}

/** What a file is made of, before it is written. */
interface Described {
  readonly values: GgufValues;
  readonly parts: readonly { readonly name: string; readonly shape: readonly number[] }[];
  readonly factors: ReadonlyMap<string, Float32Array>;
}

/**
 * llama.cpp takes many settings for granted, by the architecture: the windows of Mistral, for instance, it drops.
 * @throws ModelError when what is read from a file would not be this model.
 */
export function checkSaysAll(
  source: ModelSource,
  config: ModelConfig,
  { values, parts, factors }: Described,
): void {
  const metadata = Object.fromEntries(
    Array.from(values, ([key, value]) => [key, plainValue(value)]),
  );
  const tensors = new Map(
    parts.map(({ name, shape }) => [name, { type: null as never, shape, offset: 0, length: 0 }]),
  );
  const { path } = source;
  const read = parseModelConfig(ggufModelConfig({ path, metadata, tensors }, factors), path);
  const lost = (Object.keys(config) as (keyof ModelConfig)[]).filter((key) => {
    return !isClose(config[key], read[key]);
  });
  if (lost.length === 0) return;
  throw new ModelError({
    message: `${path}: GGUF files of ${String(metadata["general.architecture"])} cannot say this model's ${lost.join(", ")}.`,
    hint: "Export it with --format hf.",
    fields: { path, lost },
  });
}

function plainValue(value: GgufValue): unknown {
  if (typeof value !== "object") return value;
  if ("float32" in value) return Math.fround(value.float32);
  return "uint32" in value ? value.uint32 : value;
}

/** Equal, with numbers as exact as 32-bit floats. */
function isClose(a: unknown, b: unknown): boolean {
  if (typeof a === "number" && typeof b === "number")
    return a === b || Math.abs(a - b) <= 1e-6 * Math.abs(a);
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a === b;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) =>
      isClose((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key]),
    )
  );
}
