/** Reads `.parquet` files row group by row group, as the values that JSON has. */
import type { AsyncBuffer, FileMetaData } from "hyparquet";
import { ConfigError } from "../../core/errors.ts";
import { type SourceRow, sourceRow } from "../source-row.ts";
import { checkDataFile } from "./json-lines-file.ts";

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

type Row = Readonly<Record<string, unknown>>;

/** Some writers do not mark text as such: bytes that are UTF-8 are text, all others base64. */
function textOf(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    return Buffer.from(bytes).toString("base64");
  }
}

/** @throws ConfigError for the key `__proto__`, which cannot be copied. */
function plain(value: unknown, at: string): unknown {
  if (typeof value === "bigint") {
    return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  }
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (value instanceof Uint8Array) return textOf(value);
  if (ArrayBuffer.isView(value))
    return Array.from(value as unknown as ArrayLike<unknown>, (item) => plain(item, at));
  if (Array.isArray(value)) return value.map((item) => plain(item, at));
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      if (key !== "__proto__") return [key, plain(item, at)];
      throw new ConfigError({
        message: `${at}: a row must not have the key "__proto__".`,
        hint: "Rename it: copying such a row would lose or change it.",
        fields: { at },
      });
    }),
  );
}

function unreadable(file: string, cause: unknown): ConfigError {
  return new ConfigError({
    message: `${file} cannot be read as Parquet: ${cause instanceof Error ? cause.message : String(cause)}.`,
    hint: "Check that the file is complete; encrypted files are not supported.",
    cause,
    fields: { file },
  });
}

async function open(file: string) {
  checkDataFile(file);
  // Loaded when a Parquet file is read; most runs read none.
  const [parquet, { compressors, decompressLz4Raw }] = await Promise.all([
    import("hyparquet"),
    import("hyparquet-compressors"),
  ]);
  const buffer: AsyncBuffer = await parquet.asyncBufferFromFile(file);
  const metadata: FileMetaData = await parquet.parquetMetadataAsync(buffer);
  const read = async (rowStart: number, rowEnd: number): Promise<readonly Row[]> =>
    await parquet.parquetReadObjects({
      file: buffer,
      metadata,
      rowStart,
      rowEnd,
      compressors: {
        ...compressors,
        // The library's own reads past the end of an empty page.
        LZ4_RAW: (input, length) =>
          length === 0 ? new Uint8Array() : decompressLz4Raw(input, length),
      },
      utf8: false,
    });
  return { metadata, read };
}

/** @throws ConfigError if it is not a Parquet file, or damaged. */
export async function* readParquet(file: string): AsyncGenerator<SourceRow> {
  const { metadata, read } = await open(file).catch((error: unknown) => {
    throw error instanceof ConfigError ? error : unreadable(file, error);
  });
  let start = 0;
  for (const group of metadata.row_groups) {
    const end = start + Number(group.num_rows);
    const rows = await read(start, end).catch((error: unknown) => {
      throw unreadable(file, error);
    });
    for (const [index, row] of rows.entries()) {
      const at = `${file}, row ${start + index + 1}`;
      yield sourceRow(at, () => plain(row, at));
    }
    start = end;
  }
}
