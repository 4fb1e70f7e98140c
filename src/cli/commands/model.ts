/** `agent-trainer model`: inspects, downloads, merges and exports models. */
import { basename, resolve } from "node:path";
import { loadTokenizerFiles, modelAssets } from "../../backends/local/load-model.ts";
import { ConfigError } from "../../core/errors.ts";
import { exportFolder } from "../../engine/checkpoint/export-folder.ts";
import { exportGguf } from "../../engine/checkpoint/gguf/export-gguf.ts";
import type { ModelSource } from "../../engine/checkpoint/model-source.ts";
import type { NumberFormat } from "../../engine/checkpoint/number-format.ts";
import { refuseExisting } from "../../engine/checkpoint/refuse-existing.ts";
import { parseModelId } from "../../hub/model-id.ts";
import { pullModel } from "../../hub/pull-model.ts";
import { writeGgufTokenizer } from "../../tokenizers/gguf-vocabulary.ts";
import { createByteProgress, formatBytes } from "../terminal/byte-progress.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import { watchInterrupt } from "../terminal/interrupt.ts";
import type { CliIo } from "../terminal/io.ts";
import { formatReport } from "../report/format-model-report.ts";
import { reportModel } from "../report/model-report.ts";
import { openModel, type OpenedModel, type OpenModelOptions } from "../load/open-model.ts";
import { defined } from "../../util/defined.ts";

export interface ModelFlags {
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly base?: string;
}

export interface ExportFlags extends ModelFlags {
  readonly into?: string;
  readonly format: "hf" | "gguf";
  readonly dtype?: NumberFormat;
}

function print(io: CliIo, flags: ModelFlags, result: object, text: string): number {
  io.stdout.write(flags.json === true ? `${JSON.stringify(result)}\n` : text);
  return exitCodes.done;
}

/** Opens a model, showing download progress, and passes it to `use`. */
async function withModel(
  spec: string,
  flags: ModelFlags,
  io: CliIo,
  use: (
    model: OpenedModel,
    signal: AbortSignal,
    show: (done: number, total: number) => void,
  ) => Promise<number>,
): Promise<number> {
  using interrupt = watchInterrupt(() => io.stderr.write("Stopping.\n"));
  const progress = createByteProgress({ stream: io.stderr, isQuiet: flags.quiet === true });
  const options: OpenModelOptions = {
    signal: interrupt.signal,
    onProgress: ({ file, doneBytes, totalBytes }) => progress.report(file, doneBytes, totalBytes),
    onWarning: (text) => io.stderr.write(`warning: ${text}\n`),
    ...defined({ base: flags.base }),
  };
  try {
    const model = await openModel(spec, options);
    const bytes = [...model.source.tensors.values()].reduce((sum, { length }) => sum + length, 0);
    return await use(model, interrupt.signal, (done, total) =>
      progress.report("written", (done / total) * bytes, bytes),
    );
  } finally {
    progress.clear();
  }
}

/** `model inspect MODEL`; resolves with 1 when the local backend cannot use it. */
export function inspectCommand(spec: string, flags: ModelFlags, io: CliIo): Promise<number> {
  return withModel(spec, flags, io, async (model) => {
    const report = await reportModel(model);
    print(io, flags, report, formatReport(report, io));
    return report.problems.length === 0 ? exitCodes.done : exitCodes.failed;
  });
}

/** The model's number format if all its weights share one; half precision if they are mixed or quantized. */
function ownFormat({ tensors }: ModelSource): NumberFormat {
  const types = new Set(Array.from(tensors.values(), ({ type }) => type));
  if (types.size > 1 || types.size === 0) return "f16";
  return ({ F32: "f32", BF16: "bf16" } as const)[[...types][0] as "F32" | "BF16"] ?? "f16";
}

/** `model export MODEL --format hf|gguf`, and `model merge ADAPTER`, which is the same for adapters. */
export function exportCommand(spec: string, flags: ExportFlags, io: CliIo): Promise<number> {
  const isGguf = flags.format === "gguf";
  if (flags.into !== undefined) refuseExisting(resolve(flags.into));
  return withModel(spec, flags, io, async (model, signal, onProgress) => {
    const { source, basePath, name, adapter } = model;
    const format = flags.dtype ?? (isGguf ? "f16" : ownFormat(source));
    const ending = isGguf ? `-${format}.gguf` : "-hf";
    const into = resolve(flags.into ?? `${adapter === null ? "" : "merged-"}${name}${ending}`);
    refuseExisting(into);
    const shared = { format, signal, onProgress };
    if (isGguf) {
      const files = await loadTokenizerFiles(basePath);
      const rows = source.tensors.get("model.embed_tokens.weight")?.shape[0] ?? 0;
      const tokenizer = writeGgufTokenizer(files, rows, basePath);
      await exportGguf(source, into, { ...shared, name, tokenizer });
    } else {
      await exportFolder(source, into, { ...shared, assets: await modelAssets(basePath) });
    }
    const result = { path: into, format: flags.format, dtype: format, base: basePath, adapter };
    return print(io, flags, result, `${into}\n`);
  });
}

/** `model merge ADAPTER --into OUT` */
export function mergeCommand(
  adapter: string,
  flags: Omit<ExportFlags, "format"> & { readonly into: string },
  io: CliIo,
): Promise<number> {
  return exportCommand(adapter, { ...flags, format: "hf" }, io);
}

/** `model pull OWNER/NAME[@REV][:FILE.gguf]` */
export async function pullCommand(name: string, flags: ModelFlags, io: CliIo): Promise<number> {
  const id = parseModelId(name);
  if (id === null) {
    throw new ConfigError({
      message: `"${name}" is not the name of a model on a hub.`,
      hint: "Use OWNER/NAME, OWNER/NAME@REVISION or OWNER/NAME:FILE.gguf.",
      fields: { name },
    });
  }
  using interrupt = watchInterrupt(() =>
    io.stderr.write("Stopping; the next pull will resume from here.\n"),
  );
  const progress = createByteProgress({ stream: io.stderr, isQuiet: flags.quiet === true });
  try {
    const pulled = await pullModel(id, {
      signal: interrupt.signal,
      onProgress: ({ file, doneBytes, totalBytes }) => progress.report(file, doneBytes, totalBytes),
    });
    progress.clear();
    if (flags.quiet !== true)
      io.stderr.write(
        `${basename(id.repository)} at ${pulled.commit}, ${formatBytes(pulled.bytes)}\n`,
      );
    return print(io, flags, { name, ...pulled }, `${pulled.path}\n`);
  } finally {
    progress.clear();
  }
}
