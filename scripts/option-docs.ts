/** The tables of options in `docs/options.md`, written from the schema. Text between them is not touched. */
import { configFields, type ConfigField } from "../src/config/fields.ts";
import { backendNames, supportedValues, type Supported } from "../src/trainer/explain-option.ts";

/** What {@link withOptionTables} is applied to. */
export const optionPage = "docs/options.md";

const optionsHead = "| key | default | allowed | on resume | meaning |";
const backendsHead = `| backends | ${backendNames.join(" | ")} |`;

/** How the page writes whether an option may change when a run is resumed. */
export const onResume: Readonly<Record<ConfigField["resume"], string>> = {
  free: "yes",
  fixed: "`--allow-changes`",
  never: "no",
};

const cell = (text: string): string => text.replaceAll("|", String.raw`\|`);

function rowOf({ key, default: value, allowed, description, resume }: ConfigField): string {
  const shown = value === undefined ? "required" : `\`${JSON.stringify(value)}\``;
  return `| \`${key}\` | ${shown} | ${cell(allowed)} | ${onResume[resume]} | ${cell(description)} |`;
}

const supportText = (supported: Supported): string =>
  typeof supported === "string" ? supported : supported.map(String).join(", ");

/** What each backend supports of an option, unless all support all of it or it is for one backend. */
function backendRow(field: ConfigField): readonly string[] {
  const cells = Object.values(supportedValues(field));
  if (cells.includes("own") || cells.every((supported) => supported === "all")) return [];
  return [`| \`${field.key}\` | ${cells.map(supportText).join(" | ")} |`];
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

/** A table of options has those from its first one to the first one of the next table. */
export function withOptionTables(page: string): string {
  const lines = page.split("\n");
  const fields = configFields();
  const tables = tablesOf(lines, optionsHead);
  const starts = tables.map(({ firstKey }) => {
    const start = fields.findIndex(({ key }) => key === firstKey);
    if (start === -1)
      throw new Error(`A table of ${optionPage} begins with ${firstKey}, which is no option.`);
    return start;
  });
  const options = tables.map((table, i) => ({
    ...table,
    rows: fields.slice(starts[i], starts[i + 1] ?? fields.length).map(rowOf),
  }));
  const support = tablesOf(lines, backendsHead).map((table) => ({
    ...table,
    rows: fields.flatMap(backendRow),
  }));
  const lastFirst = [...options, ...support].toSorted((a, b) => b.at - a.at);
  for (const { at, end, rows } of lastFirst) lines.splice(at + 2, end - at - 2, ...rows);
  return lines.join("\n");
}
