/**
 * The header of a GGUF file: metadata, and the position of each tensor. The format is parsed by
 * `@huggingface/gguf`, loaded on first use; here its result is checked against the file's size.
 */
import { ModelError } from "../../../core/errors.ts";
import { checkFile } from "../../../util/files/regular-file.ts";
import { defined } from "../../../util/defined.ts";
import { ggmlTypeNames, ggmlTypes, type GgmlType } from "./ggml-types.ts";
import type { ByteRange } from "../read-chunks.ts";

export interface GgufTensor extends ByteRange {
  readonly type: GgmlType;
  /** Row-major, as everywhere else; GGUF itself lists dimensions in reverse. */
  readonly shape: readonly number[];
}

type GgufMetadata = Readonly<Record<string, unknown>>;

export interface GgufFile {
  readonly path: string;
  readonly metadata: GgufMetadata;
  /** By llama.cpp's tensor names. */
  readonly tensors: ReadonlyMap<string, GgufTensor>;
}

/** What we use of the library; its own types do not resolve under `nodenext`. */
interface GgufLibrary {
  gguf(path: string, options: { allowLocalFile: true }): Promise<ParsedHeader>;
  readonly GGMLQuantizationType: Readonly<Record<number, string>>;
}
interface ParsedHeader {
  readonly metadata: GgufMetadata;
  readonly littleEndian: boolean;
  readonly tensorDataOffset: bigint;
  readonly tensorInfos: readonly {
    readonly name: string;
    readonly shape: readonly bigint[];
    readonly dtype: number;
    readonly offset: bigint;
  }[];
}

export function isGgufPath(path: string): boolean {
  return path.toLowerCase().endsWith(".gguf");
}

function refuse(path: string, why: string, hint?: string, cause?: unknown): never {
  throw new ModelError({
    message: `${path} is not a usable GGUF file: ${why}.`,
    ...defined({ hint, cause }),
    fields: { file: path },
  });
}

/** @throws ModelError naming what is missing, broken or not supported. */
export async function openGguf(path: string): Promise<GgufFile> {
  const size = await checkFile(path).catch((cause: Error) =>
    refuse(path, cause.message, undefined, cause),
  );
  const library = (await import("@huggingface/gguf")) as unknown as GgufLibrary;
  const header = await library.gguf(path, { allowLocalFile: true }).catch((cause: unknown) => {
    const reason = cause instanceof Error ? cause.message : String(cause);
    return refuse(path, reason, "Download the file again.", cause);
  });
  if (!header.littleEndian) refuse(path, "its numbers are big-endian");
  const shards = Number(header.metadata["split.count"] ?? 1);
  if (shards > 1) {
    refuse(
      path,
      `it is one of ${shards} parts`,
      "Join them with: llama-gguf-split --merge FIRST_PART OUT.gguf",
    );
  }
  const tensors = new Map<string, GgufTensor>();
  for (const { name, shape, dtype, offset } of header.tensorInfos) {
    const type = ggmlTypes.get(dtype);
    if (type === undefined) {
      const found = library.GGMLQuantizationType[dtype] ?? `number ${dtype}`;
      return refuse(
        path,
        `tensor "${name}" has type ${found}; supported: ${ggmlTypeNames.join(", ")}`,
        "Use a file of one of these types.",
      );
    }
    const dims = shape.map(Number).toReversed();
    const elements = dims.reduce((product, dim) => product * dim, 1);
    const length = (elements / type.elements) * type.bytes;
    const start = Number(header.tensorDataOffset + offset);
    const fits = (dims.at(-1) ?? 0) % type.elements === 0 && start + length <= size;
    if (!fits) refuse(path, `tensor "${name}" does not fit into it`, "Download the file again.");
    tensors.set(name, { type, shape: dims, offset: start, length });
  }
  return { path, metadata: header.metadata, tensors };
}
