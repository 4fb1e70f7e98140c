/** Reads `.csv` and `.tsv` files: RFC 4180, with the column names in the first line. */
import { CsvError, type InfoRecord, parse } from "csv-parse/sync";
import { ConfigError } from "../../core/errors.ts";

export interface Table {
  /** Every value is a string. */
  readonly rows: readonly Readonly<Record<string, string>>[];
  /** The line that row i ends in. */
  readonly lines: readonly number[];
  /** Rows that cannot be read, because they have too few or too many values. */
  readonly problems: readonly { readonly line: number; readonly problem: ConfigError }[];
}

const unreadable = (file: string, error: CsvError): ConfigError =>
  new ConfigError({
    message: `${file}: ${error.message}.`,
    hint: 'Put values with commas, quotes or line breaks in quotes, and write a quote inside as "".',
    cause: error,
    fields: { file, code: error.code },
  });

function checkHeader(names: readonly string[], file: string, delimiter: string): string[] {
  const wrong = (problem: string, hint: string): ConfigError =>
    new ConfigError({ message: `${file}:1: ${problem}`, hint, fields: { file, names } });
  const other = [";", "\t", ","].find((mark) => mark !== delimiter && names[0]?.includes(mark));
  if (names.length === 1 && other !== undefined) {
    throw wrong(
      `the columns are separated by ${JSON.stringify(other)}, not by ${JSON.stringify(delimiter)}.`,
      "Separate columns by commas in a .csv file, and by tabs in a .tsv file.",
    );
  }
  const seen = new Set<string>();
  const twice = names.find((name) => seen.size === seen.add(name).size);
  if (twice !== undefined) throw wrong(`there are two columns "${twice}".`, "Rename one of them.");
  return [...names];
}

/** @throws ConfigError with the file and line of the problem. */
export function readTable(text: string, file: string, delimiter: "," | "\t"): Table {
  const problems: { line: number; problem: ConfigError }[] = [];
  try {
    const records = parse(text, {
      delimiter,
      columns: (names: string[]) => checkHeader(names, file, delimiter),
      skip_empty_lines: true,
      info: true,
      skip_records_with_error: true,
      on_skip: (error) => {
        // A quote that is not closed takes the rest of the file with it.
        if (error?.code !== "CSV_RECORD_INCONSISTENT_COLUMNS") throw error as unknown as Error;
        problems.push({ line: Number(error["lines"]), problem: unreadable(file, error) });
        return undefined;
      },
      // Quotes have no special meaning in tab-separated values, where a value cannot contain tabs.
      ...(delimiter === "\t" ? { quote: false } : {}),
    }) as unknown as readonly {
      readonly record: Record<string, string>;
      readonly info: InfoRecord;
    }[];
    return {
      rows: records.map(({ record }) => record),
      lines: records.map(({ info }) => info.lines),
      problems,
    };
  } catch (error) {
    throw error instanceof CsvError ? unreadable(file, error) : error;
  }
}
