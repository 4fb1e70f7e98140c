/**
 * Writes a model as a GGUF file that llama.cpp loads: matrices in one format, vectors as 32-bit
 * floats, rows of queries and keys in llama.cpp's order.
 */
import { ModelError } from "../../../core/errors.ts";
import { fitSource } from "../../model/fit-source.ts";
import type { ModelConfig } from "../../model/model-config.ts";
import type { ExportOptions } from "../export-folder.ts";
import type { ModelSource } from "../model-source.ts";
import { ggufArchitectures } from "./gguf-config.ts";
import { type GgufFormat, tensorFormat, typeNumbers } from "./gguf-format.ts";
import { ggufName, hasReorderedRows, hubRow } from "./gguf-names.ts";
import type { GgufValue, GgufValues } from "./gguf-writer.ts";
import { type GgufPart, writeGguf } from "./write-gguf.ts";

export interface GgufExportOptions extends ExportOptions {
  /** Of matrices. */
  readonly format: GgufFormat;
  /** `general.name` */
  readonly name: string;
  /** `tokenizer.*` */
  readonly tokenizer: GgufValues;
}

/** @throws ConfigError when `file` exists; ModelError for what GGUF cannot represent. */
export async function exportGguf(
  source: ModelSource,
  file: string,
  options: GgufExportOptions,
): Promise<void> {
  const { config, base } = fitSource(source);
  const architecture = architectureOf(source);
  const factors = ropeFactors(source, config);
  const parts: GgufPart[] = base.map(({ name, shape }) => ({
    name: ggufName(name),
    shape,
    format: tensorFormat(shape, options.format),
  }));
  const factorsPart = {
    name: "rope_freqs.weight",
    shape: [factors?.length ?? 0],
    format: "f32",
  } as const;
  async function* read(): AsyncGenerator<readonly [string, Float32Array], void, undefined> {
    if (factors !== null) yield [factorsPart.name, factors];
    for await (const [name, data] of source.read(base.map((spec) => spec.name))) {
      const rows = source.tensors.get(name)!.shape[0]!;
      const ordered = hasReorderedRows(architecture, name)
        ? reorderRows(data, config.headSize, rows)
        : data;
      yield [ggufName(name), ordered];
    }
  }
  await writeGguf(file, {
    ...options,
    values: modelValues(source, config, architecture, options),
    parts: factors === null ? parts : [...parts, factorsPart],
    read,
  });
}

/** @throws ModelError for one that GGUF does not know, or that is not supported. */
export function architectureOf({ config, path }: ModelSource): string {
  const [hub] = config["architectures"] as readonly string[];
  const found = Object.entries(ggufArchitectures).find(([, name]) => name === hub);
  if (found !== undefined) return found[0];
  throw new ModelError({
    message: `${path}: the architecture ${hub} cannot be written as GGUF.`,
    fields: { path, architecture: hub },
  });
}

/** Rows of queries and keys into llama.cpp's order. */
export function reorderRows(data: Float32Array, headSize: number, rows: number): Float32Array {
  const columns = data.length / rows;
  const result = new Float32Array(data.length);
  for (let row = 0; row < rows; row++) {
    const from = hubRow(row, headSize) * columns;
    result.set(data.subarray(from, from + columns), row * columns);
  }
  return result;
}

function scalingOf({ config }: ModelSource): Readonly<Record<string, unknown>> {
  const scaling = config["rope_scaling"] ?? config["rope_parameters"] ?? {};
  return scaling as Readonly<Record<string, unknown>>;
}

function thetaOf(source: ModelSource): number {
  return Number(source.config["rope_theta"] ?? scalingOf(source)["rope_theta"] ?? 10_000);
}

function ropeKind(source: ModelSource): unknown {
  const scaling = scalingOf(source);
  return scaling["rope_type"] ?? scaling["type"] ?? "default";
}

/** What llama.cpp divides each pair's frequency by; null where the metadata says it. */
function ropeFactors(source: ModelSource, config: ModelConfig): Float32Array | null {
  if (ropeKind(source) !== "llama3") return null;
  const theta = thetaOf(source);
  const half = config.headSize / 2;
  return Float32Array.from(
    config.layerKinds[0]!.rope!.frequencies,
    (frequency, i) => theta ** (-i / half) / frequency,
  );
}

function modelValues(
  source: ModelSource,
  config: ModelConfig,
  architecture: string,
  { name, tokenizer, format }: GgufExportOptions,
): GgufValues {
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
    "rope.dimension_count": { uint32: config.headSize },
    "rope.freq_base": { float32: thetaOf(source) },
    vocab_size: { uint32: config.vocabSize },
  };
  if (ropeKind(source) === "linear") {
    own["rope.scaling.type"] = "linear";
    own["rope.scaling.factor"] = { float32: Number(scalingOf(source)["factor"]) };
  }
  return new Map<string, GgufValue>([
    ["general.architecture", architecture],
    ["general.type", "model"],
    ["general.name", name],
    ["general.file_type", { uint32: typeNumbers[format].file }],
    ...(format === "q8_0" ? ([["general.quantization_version", { uint32: 2 }]] as const) : []),
    ...Object.entries(own).map(([key, value]) => [`${architecture}.${key}`, value] as const),
    ...tokenizer,
  ]);
}
