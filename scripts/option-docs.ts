/** The tables of options in `docs/configuration.md`, written from the schema. Text between them is not touched. */
import { configFields, type ConfigField } from "../src/config/fields.ts";
import { freeOptions } from "../src/trainer/run-folder/run-identity.ts";

/** What {@link withOptionTables} is applied to. */
export const optionPage = "docs/configuration.md";

const optionsHead = "| key | default | allowed | meaning |";
const freeHead = "| may change |";

const cell = (text: string): string => text.replaceAll("|", String.raw`\|`);

function rowOf({ key, default: value, allowed, description }: ConfigField): string {
  const shown = value === undefined ? "required" : `\`${JSON.stringify(value)}\``;
  return `| \`${key}\` | ${shown} | ${cell(allowed)} | ${cell(description)} |`;
}

interface Table {
  /** Index of the line with its head. */
  readonly at: number;
  /** Index after its last line. */
  readonly end: number;
  readonly firstKey: string;
}

function tablesOf(lines: readonly string[], head: string): readonly Table[] {
  return lines.flatMap((line, at) => {
    if (line !== head) return [];
    const rest = lines.findIndex((other, i) => i > at && !other.startsWith("|"));
    const firstKey = /`([^`]+)`/u.exec(lines[at + 2] ?? "")?.[1] ?? "";
    return [{ at, end: rest === -1 ? lines.length : rest, firstKey }];
  });
}

/** A table has the options from its first one to the first one of the next table. */
export function withOptionTables(page: string): string {
  const lines = page.split("\n");
  const fields = configFields();
  const tables = tablesOf(lines, optionsHead);
  const starts = tables.map(({ firstKey }) => fields.findIndex(({ key }) => key === firstKey));
  const written = tables.map((table, i) => ({
    ...table,
    rows: fields.slice(starts[i], starts[i + 1] ?? fields.length).map(rowOf),
  }));
  const free = tablesOf(lines, freeHead).map((table) => ({
    ...table,
    rows: freeOptions().map((key) => `| \`${key}\` |`),
  }));
  for (const { at, end, rows } of [...written, ...free].sort((a, b) => b.at - a.at)) {
    lines.splice(at + 2, end - at - 2, ...rows);
  }
  return lines.join("\n");
}
