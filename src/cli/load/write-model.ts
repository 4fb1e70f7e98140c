/** Writes a model, or a part of an adapter's model, for other programs: `model export` and `model merge`. */
import { resolve } from "node:path";
import { findTurnEnds, loadTokenizerFiles, modelAssets } from "../../backends/local/load-model.ts";
import { ConfigError } from "../../core/errors.ts";
import { type ExportOptions, exportFolder } from "../../engine/checkpoint/export-folder.ts";
import { exportGgufAdapter } from "../../engine/checkpoint/gguf/export-gguf-adapter.ts";
import { exportGguf } from "../../engine/checkpoint/gguf/export-gguf.ts";
import type { GgufFormat } from "../../engine/checkpoint/gguf/gguf-format.ts";
import { trainedBase } from "../../engine/checkpoint/lora-adapter.ts";
import type { ModelSource } from "../../engine/checkpoint/model-source.ts";
import type { NumberFormat } from "../../engine/checkpoint/number-format.ts";
import { refuseExisting } from "../../engine/checkpoint/refuse-existing.ts";
import { templateWithTools } from "../../models/renderers/tool-template.ts";
import { writeGgufTokenizer } from "../../models/tokenizers/gguf-vocabulary.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import { type CliIo, writeResult } from "../terminal/io.ts";
import type { ModelParts, OpenedModel } from "./open-model.ts";
import { type OpeningFlags, withModel } from "./with-model.ts";

/** What is written of a model with an adapter: the sum, the base as it was trained with, or the adapter. */
export const exportParts = ["merged", "base", "adapter"] as const;

export interface WritingFlags extends OpeningFlags {
  readonly into?: string | undefined;
  readonly format: "hf" | "gguf";
  readonly dtype?: GgufFormat | undefined;
  /** @default "merged" */
  readonly part?: (typeof exportParts)[number] | undefined;
  readonly json?: boolean | undefined;
}

/** The default of `--dtype` for a folder. */
export const ownFormatHelp = "the model's own, or f16 if that is mixed or quantized";

/** The model's number format if all its weights share one; half precision if they are mixed or quantized. */
function ownFormat({ tensors }: ModelSource): NumberFormat {
  const types = new Set(Array.from(tensors.values(), ({ type }) => type));
  if (types.size > 1 || types.size === 0) return "f16";
  return ({ F32: "f32", BF16: "bf16" } as const)[[...types][0] as "F32" | "BF16"] ?? "f16";
}

function refuse(message: string, hint: string, fields: Readonly<Record<string, unknown>>): never {
  throw new ConfigError({ message, hint, fields });
}

/** For a folder, or an adapter. */
function plainFormat(dtype: GgufFormat, what: string): NumberFormat {
  if (dtype !== "q8_0") return dtype;
  return refuse(
    `--dtype q8_0 is a format of whole models in GGUF, not of ${what}.`,
    "Use f32, f16 or bf16, or --format gguf without --part adapter.",
    { option: "--dtype", value: dtype },
  );
}

/** @throws ConfigError for a model without an adapter */
function partsOf({ parts }: OpenedModel, spec: string, part: string): ModelParts {
  if (parts !== null) return parts;
  return refuse(
    `${spec} has no adapter, so --part ${part} cannot be taken from it.`,
    "Leave --part out, or name a LoRA adapter or a run that trained one.",
    { option: "--part", value: part, model: spec },
  );
}

async function writeAdapter(
  model: OpenedModel,
  { base, adapter }: ModelParts,
  into: string,
  flags: WritingFlags,
  options: ExportOptions,
): Promise<NumberFormat> {
  if (flags.format === "hf") {
    refuse(
      `The adapter ${adapter.folder} is in Hugging Face's format already.`,
      "Give that folder to PEFT or vLLM, or use --format gguf for llama.cpp.",
      { option: "--part", value: "adapter" },
    );
  }
  const format = plainFormat(flags.dtype ?? "f32", "an adapter");
  await exportGgufAdapter(adapter, base, into, { ...options, format, name: model.name });
  return format;
}

async function writeWhole(
  model: OpenedModel,
  source: ModelSource,
  into: string,
  flags: WritingFlags,
  options: ExportOptions,
): Promise<GgufFormat> {
  const { basePath, name } = model;
  if (flags.format === "hf") {
    const format = plainFormat(flags.dtype ?? ownFormat(source), "a folder");
    const assets = new Map(await modelAssets(basePath));
    // A folder may have weights without a tokenizer.
    const hasTokenizer = assets.has("tokenizer.json") && assets.has("tokenizer_config.json");
    const template = hasTokenizer
      ? templateWithTools(await loadTokenizerFiles(basePath), basePath)
      : null;
    if (template !== null) assets.set("chat_template.jinja", { text: template });
    await exportFolder(source, into, { ...options, format, assets });
    return format;
  }
  const files = await loadTokenizerFiles(basePath);
  const template = templateWithTools(files, basePath);
  const format = flags.dtype ?? "f16";
  const rows = source.tensors.get("model.embed_tokens.weight")?.shape[0] ?? 0;
  const config = template === null ? files.config : { ...files.config, chat_template: template };
  const ends = await findTurnEnds(basePath);
  const tokenizer = writeGgufTokenizer({ ...files, config }, rows, basePath, ends);
  await exportGguf(source, into, { ...options, format, name, tokenizer });
  return format;
}

/** `merged-shop-f16.gguf` */
function defaultName({ name, parts }: OpenedModel, flags: WritingFlags): string {
  const { format, dtype, part = "merged" } = flags;
  const prefix = parts === null ? "" : `${part}-`;
  const ending = format === "hf" ? "-hf" : `-${dtype ?? (part === "adapter" ? "f32" : "f16")}.gguf`;
  return `${prefix}${name}${ending}`;
}

/** Resolves with the exit status. */
export function writeModel(spec: string, flags: WritingFlags, io: CliIo): Promise<number> {
  const { format, part = "merged" } = flags;
  if (flags.into !== undefined) refuseExisting(resolve(flags.into));
  return withModel(spec, flags, io, async (model, signal, onProgress) => {
    const into = resolve(flags.into ?? defaultName(model, flags));
    refuseExisting(into);
    const options = { signal, onProgress };
    const parts = part === "merged" ? null : partsOf(model, spec, part);
    const source = parts === null ? model.source : trainedBase(parts.base, parts.adapter);
    const dtype =
      parts !== null && part === "adapter"
        ? await writeAdapter(model, parts, into, flags, options)
        : await writeWhole(model, source, into, flags, options);
    const { basePath: base, adapter } = model;
    const result = { path: into, format, part, dtype, base, adapter };
    writeResult(io, flags.json, result, `${into}\n`);
    return exitCodes.done;
  });
}
