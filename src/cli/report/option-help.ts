/** Help text of a run's options, generated from the schema. */
import { configFields } from "../../config/fields.ts";
import { wrapText } from "../terminal/wrap-text.ts";

/** Narrower terminals have no room for a meaning next to key and default. */
const widest = 120;

/** One line per option: key, default, meaning; in a narrow terminal the meaning is below. */
export function formatConfigHelp(columns?: number): string {
  const lines = configFields().map(({ key, description, ...field }) => {
    const value = field.default === undefined ? "required" : JSON.stringify(field.default);
    const head = `  ${key.padEnd(38)} ${value.padEnd(14)}`;
    return columns !== undefined && columns < widest
      ? wrapText(`${head.trimEnd()}\n      ${description}`, columns)
      : wrapText(`${head} ${description}`, columns, 54);
  });
  return `Options of CONFIG.yaml and of key=value, with their defaults:\n${lines.join("\n")}\n`;
}
