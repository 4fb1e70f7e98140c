/**
 * Writes a model as a GGUF file that llama.cpp loads: matrices in one format, vectors as 32-bit
 * floats, rows of queries and keys in llama.cpp's order.
 */
import { ModelError } from "../../../core/errors.ts";
import { fitSource } from "../../model/fit-source.ts";
import type { ExportOptions } from "../export-folder.ts";
import type { ModelSource } from "../model-source.ts";
import { ggufArchitecture } from "./gguf-families.ts";
import { type GgufFormat, tensorFormat, typeNumbers } from "./gguf-format.ts";
import { ggufName, hasReorderedRows, hubRow, normShift } from "./gguf-names.ts";
import { checkSaysAll, modelValues, ropeFactors } from "./gguf-values.ts";
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
  const weights: GgufPart[] = base.map(({ name, shape }) => ({
    name: ggufName(architecture, name),
    shape,
    format: tensorFormat(shape, options.format),
  }));
  const own = modelValues(source, config, architecture);
  checkSaysAll(source, config, { values: own, parts: weights, factors });
  async function* read(): AsyncGenerator<readonly [string, Float32Array], void, undefined> {
    yield* factors;
    for await (const [name, data] of source.read(base.map((spec) => spec.name))) {
      const rows = source.tensors.get(name)!.shape[0]!;
      const ordered = hasReorderedRows(architecture, name)
        ? reorderRows(data, config.headSize, rows)
        : data;
      const shift = normShift(architecture, name);
      const shifted = shift === 0 ? ordered : ordered.map((value) => value + shift);
      yield [ggufName(architecture, name), shifted];
    }
  }
  await writeGguf(file, {
    ...options,
    values: new Map<string, GgufValue>([
      ...own,
      ["general.type", "model"],
      ["general.name", options.name],
      ["general.file_type", { uint32: typeNumbers[options.format].file }],
      ...(options.format === "q8_0"
        ? ([["general.quantization_version", { uint32: 2 }]] as const)
        : []),
      ...options.tokenizer,
    ]),
    parts: [...weights, ...Array.from(factors, ropePart)],
    read,
  });
}

function ropePart([name, factors]: readonly [string, Float32Array]): GgufPart {
  return { name, shape: [factors.length], format: "f32" };
}

/** @throws ModelError for one that GGUF does not know, or that is not supported. */
export function architectureOf({ config, path }: ModelSource): string {
  const [hub] = config["architectures"] as readonly string[];
  const found = ggufArchitecture(hub!);
  if (found !== undefined) return found;
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
