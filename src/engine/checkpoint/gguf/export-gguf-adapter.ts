/**
 * Writes a LoRA adapter as a GGUF file, as llama.cpp's `convert_lora_to_gguf.py` does, for `--lora`. Factors of
 * queries and keys have their rows in llama.cpp's order, as those of the base.
 */
import { fitSource } from "../../model/fit-source.ts";
import type { ExportOptions } from "../export-folder.ts";
import { checkFit, type LoraAdapter } from "../lora-adapter.ts";
import type { ModelSource } from "../model-source.ts";
import type { NumberFormat } from "../number-format.ts";
import { architectureOf, reorderRows } from "./export-gguf.ts";
import { typeNumbers } from "./gguf-format.ts";
import { ggufName, hasReorderedRows } from "./gguf-names.ts";
import type { GgufValue } from "./gguf-writer.ts";
import { type GgufPart, writeGguf } from "./write-gguf.ts";

export interface GgufAdapterOptions extends ExportOptions {
  readonly format: NumberFormat;
  /** `general.name` */
  readonly name: string;
}

/** @throws ConfigError when `file` exists; ModelError when the adapter does not fit `base`. */
export async function exportGgufAdapter(
  adapter: LoraAdapter,
  base: ModelSource,
  file: string,
  options: GgufAdapterOptions,
): Promise<void> {
  checkFit(base, adapter);
  const { headSize } = fitSource(base).config;
  const architecture = architectureOf(base);
  const { format, name } = options;
  const [first] = adapter.factors.values();
  // llama.cpp multiplies by alpha / rank, with one alpha for all.
  const alpha = first === undefined ? 1 : first.scale * first.a.shape[0]!;
  const tensors = new Map<string, { readonly part: GgufPart; readonly read: () => Float32Array }>();
  for (const [weight, { a, b, scale }] of adapter.factors) {
    const [rows, rank] = b.shape as readonly [number, number];
    const add = (suffix: string, shape: readonly number[], read: () => Float32Array): void => {
      const part: GgufPart = { name: `${ggufName(architecture, weight)}.${suffix}`, shape, format };
      tensors.set(part.name, { part, read });
    };
    add("lora_a", a.shape, () => a.data);
    add("lora_b", b.shape, () => {
      const factor = (scale * rank) / alpha;
      const scaled = factor === 1 ? b.data : b.data.map((value) => value * factor);
      return hasReorderedRows(architecture, weight) ? reorderRows(scaled, headSize, rows) : scaled;
    });
  }
  const values = new Map<string, GgufValue>([
    ["general.architecture", architecture],
    ["general.type", "adapter"],
    ["general.name", name],
    ["general.file_type", { uint32: typeNumbers[format].file }],
    ["adapter.type", "lora"],
    ["adapter.lora.alpha", { float32: alpha }],
  ]);
  await writeGguf(file, {
    ...options,
    values,
    parts: Array.from(tensors.values(), ({ part }) => part),
    async *read() {
      for (const [tensor, { read }] of tensors) yield [tensor, read()] as const;
    },
  });
}
