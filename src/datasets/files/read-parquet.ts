/** Reads `.parquet` files row group by row group, as the values that JSON has. */
import type { AsyncBuffer, FileMetaData } from "hyparquet";
import { ConfigError } from "../../core/errors.ts";
import { type SourceRow, sourceRow } from "../source-row.ts";
import { checkDataFile } from "./json-lines-file.ts";
import { exactParsers, jsonValue, withoutRounding } from "./parquet-values.ts";

type Row = Readonly<Record<string, unknown>>;

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
  const schema = parquet.parquetSchema(metadata);
  const exact = withoutRounding(metadata);
  const read = async (rowStart: number, rowEnd: number): Promise<readonly Row[]> =>
    await parquet.parquetReadObjects({
      file: buffer,
      metadata: exact,
      parsers: exactParsers,
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
  return { metadata, schema, read };
}

/** @throws ConfigError if it is not a Parquet file, or damaged. */
export async function* readParquet(file: string): AsyncGenerator<SourceRow> {
  const { metadata, schema, read } = await open(file).catch((error: unknown) => {
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
      yield { ...sourceRow(at, () => jsonValue(row, schema, at)), isColumnar: true };
    }
    start = end;
  }
}
