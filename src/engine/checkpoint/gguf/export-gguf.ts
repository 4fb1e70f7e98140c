/**
 * Writes a model as a GGUF file that llama.cpp loads: matrices in one format, vectors as 32-bit
 * floats, rows of queries and keys in llama.cpp's order.
 */
import { ModelError } from "../../../core/errors.ts";
import { fitSource } from "../../model/fit-source.ts";
import type { ModelConfig } from "../../model/model-config.ts";
import type { ExportOptions } from "../export-folder.ts";
import { resolve } from "node:path";
import { writeFileAtomic } from "../../../util/files/atomic-write.ts";
import { ggufArchitectures } from "./gguf-config.ts";
import { ggufName, hasReorderedRows, hubRow } from "./gguf-names.ts";
import {
  ggufHeader,
  type GgufTensorEntry,
  type GgufValue,
  type GgufValues,
} from "./gguf-writer.ts";
import type { ModelSource } from "../model-source.ts";
import { encodeNumbers, formatFacts, type NumberFormat } from "../number-format.ts";
import { refuseExisting } from "../refuse-existing.ts";

export interface GgufExportOptions extends ExportOptions {
  /** `general.name` */
  readonly name: string;
  /** `tokenizer.*` */
  readonly tokenizer: GgufValues;
}

/** ggml's number of a tensor type, and of a file of mostly that type. */
const typeNumbers: Readonly<Record<NumberFormat, { tensor: number; file: number }>> = {
  f32: { tensor: 0, file: 0 },
  f16: { tensor: 1, file: 1 },
  bf16: { tensor: 30, file: 32 },
};

/** @throws ConfigError when `file` exists; ModelError for what GGUF cannot represent. */
export async function exportGguf(
  source: ModelSource,
  file: string,
  options: GgufExportOptions,
): Promise<void> {
  const { config, base } = fitSource(source);
  const architecture = architectureOf(source);
  const factors = ropeFactors(source, config);
  const entries: GgufTensorEntry[] = base.map(({ name, shape }) => {
    const format = formatOf(shape, options);
    const elements = shape.reduce((product, dim) => product * dim, 1);
    const bytes = elements * formatFacts[format].bytes;
    return { name: ggufName(name), type: typeNumbers[format].tensor, shape, bytes };
  });
  if (factors !== null) {
    const shape = [factors.length];
    entries.push({ name: "rope_freqs.weight", type: 0, shape, bytes: factors.byteLength });
  }
  const header = ggufHeader(modelValues(source, config, architecture, options), entries);
  const target = resolve(file);
  refuseExisting(target);
  await writeFileAtomic(target, async (handle) => {
    await handle.truncate(header.size);
    const put = (name: string, bytes: Uint8Array): Promise<unknown> =>
      handle.write(bytes, 0, bytes.length, header.offsets.get(name));
    await handle.write(header.bytes, 0, header.bytes.length, 0);
    if (factors !== null) await put("rope_freqs.weight", encodeNumbers(factors, "f32"));
    let done = 0;
    for await (const [name, data] of source.read(base.map((spec) => spec.name))) {
      const { shape } = source.tensors.get(name)!;
      const ordered = hasReorderedRows(architecture, name)
        ? reorder(data, config.headSize, shape[0]!)
        : data;
      await put(ggufName(name), encodeNumbers(ordered, formatOf(shape, options)));
      options.signal?.throwIfAborted();
      options.onProgress?.((done += 1), base.length);
    }
  });
}

/** Vectors are few, and llama.cpp computes with them in 32 bits. */
function formatOf(shape: readonly number[], { format }: ExportOptions): NumberFormat {
  return shape.length === 1 ? "f32" : format;
}

function architectureOf({ config, path }: ModelSource): string {
  const [hub] = config["architectures"] as readonly string[];
  const found = Object.entries(ggufArchitectures).find(([, name]) => name === hub);
  if (found !== undefined) return found[0];
  throw new ModelError({
    message: `${path}: the architecture ${hub} cannot be written as GGUF.`,
    fields: { path, architecture: hub },
  });
}

/** Into llama.cpp's order of rows. */
function reorder(data: Float32Array, headSize: number, rows: number): Float32Array {
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
    config.ropeFrequencies,
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
    ...Object.entries(own).map(([key, value]) => [`${architecture}.${key}`, value] as const),
    ...tokenizer,
  ]);
}
